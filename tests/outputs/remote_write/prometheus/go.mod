// The direct requirement; `go mod tidy` adds the others in the folder of the build.
module prometheus

go 1.26.0

require github.com/prometheus/prometheus v0.316.0
