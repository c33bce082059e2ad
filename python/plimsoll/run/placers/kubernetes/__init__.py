"""Workers as Pods of an indexed Job on Kubernetes: `--on k8s:image=IMAGE,workers=4`."""
