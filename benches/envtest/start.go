// Measures how long envtest takes to start its environment with the assets of several folders, in turn:
//
//	cd examples/testing/kubebuilder && go run ../../../benches/envtest/start.go ROUNDS FOLDER...
//
// Prints the least and the median time of the start, and the median time of the end, for each folder.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

type times struct{ start, stop []time.Duration }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: start.go ROUNDS FOLDER...")
	}
	rounds, err := strconv.Atoi(args[0])
	if err != nil || rounds < 1 {
		return fmt.Errorf("ROUNDS is a positive number, not %q", args[0])
	}
	folders := args[1:]
	measured := make([]times, len(folders))
	for range rounds {
		for i, folder := range folders {
			if err := measured[i].measure(folder); err != nil {
				return fmt.Errorf("%s: %w", folder, err)
			}
		}
	}
	for i, folder := range folders {
		start, stop := measured[i].start, measured[i].stop
		slices.Sort(start)
		slices.Sort(stop)
		fmt.Printf("%s: start least %d ms, median %d ms; stop median %d ms\n", folder,
			start[0].Milliseconds(), start[rounds/2].Milliseconds(), stop[rounds/2].Milliseconds())
	}
	return nil
}

func (t *times) measure(folder string) error {
	environment := &envtest.Environment{BinaryAssetsDirectory: folder}
	begin := time.Now()
	if _, err := environment.Start(); err != nil {
		return err
	}
	t.start = append(t.start, time.Since(begin))
	begin = time.Now()
	if err := environment.Stop(); err != nil {
		return err
	}
	t.stop = append(t.stop, time.Since(begin))
	return nil
}
