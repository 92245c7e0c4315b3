module clients

go 1.24

require (
	github.com/oapi-codegen/oapi-codegen/v2 v2.8.2
	github.com/oapi-codegen/runtime v1.8.0
)

tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
