"""A Ray cluster of one's own: on machines that SSH reaches, on Kubernetes, and what is wrong with one."""
