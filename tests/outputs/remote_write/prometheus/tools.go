//go:build tools

// Package prometheus names the command that is built here.
package prometheus

import _ "github.com/prometheus/prometheus/cmd/prometheus"
