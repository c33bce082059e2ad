// Command control-plane is etcd and the three servers of a Kubernetes control plane in one file. The first argument
// says which of them runs: one program has one build and one link, and shares most of its packages.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: control-plane etcd|apiserver|controllers|scheduler OPTIONS")
		os.Exit(2)
	}
	role := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	var command *cobra.Command
	switch role {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "apiserver":
		command = apiserver.NewAPIServerCommand()
	case "controllers":
		command = controllers.NewControllerManagerCommand()
	case "scheduler":
		command = scheduler.NewSchedulerCommand()
	default:
		fmt.Fprintf(os.Stderr, "control-plane: there is no %q\n", role)
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}
