// Uses the client that oapi-codegen generates. Prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"

	"clients/petstore"
)

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// nextCursor returns the cursor of the next page, or nil on the last page.
func nextCursor(response *http.Response) *string {
	link := nextLink.FindStringSubmatch(response.Header.Get("Link"))
	if link == nil {
		return nil
	}
	cursor := must(url.Parse(link[1])).Query().Get("cursor")
	return &cursor
}

func client(key string) *petstore.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return must(petstore.NewClientWithResponses(os.Getenv("BASE_URL"), petstore.WithRequestEditorFn(authorize)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	store := client(os.Getenv("API_KEY"))
	status := petstore.Pending
	key := os.Getenv("IDEMPOTENCY_KEY")
	params := &petstore.CreatePetParams{IdempotencyKey: &key}
	body := petstore.NewPet{Name: "Go", CategoryId: 9223372036854775807, Status: &status}
	pet := *must(store.CreatePetWithResponse(ctx, params, body)).JSON201

	listed := 0
	limit := int32(2)
	query := &petstore.ListPetsParams{Limit: &limit, Status: &status}
	for more := true; more; more = query.Cursor != nil {
		page := must(store.ListPetsWithResponse(ctx, query))
		for _, found := range *page.JSON200 {
			if found == pet {
				listed++
			}
		}
		query.Cursor = nextCursor(page.HTTPResponse)
	}

	invalid := must(store.CreatePetWithResponse(ctx, nil, petstore.NewPet{})).JSON400
	unauthorized := must(client("wrong").ListPetsWithResponse(ctx, nil)).JSON401
	missing := must(store.GetPetWithResponse(ctx, 1)).JSON404

	fmt.Println(string(must(json.Marshal(map[string]any{
		"categoryId": fmt.Sprint(pet.CategoryId),
		"listed":     listed,
		"got":        *must(store.GetPetWithResponse(ctx, pet.Id)).JSON200 == pet,
		"errors":     []petstore.ErrorCode{invalid.Code, unauthorized.Code, missing.Code},
	}))))
}
