module webhook

go 1.26.0
