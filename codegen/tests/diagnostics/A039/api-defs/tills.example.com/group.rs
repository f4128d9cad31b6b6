//! Where a shop takes money.

#![group("tills.example.com")]
#![version(v1)]
#![gate(ShopTills, beta, default = false)]
#![gate(ShopSale, alpha)]
