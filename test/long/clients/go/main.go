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
	next, err := url.Parse(link[1])
	check(err)
	cursor := next.Query().Get("cursor")
	return &cursor
}

func client(key string) *petstore.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	made, err := petstore.NewClientWithResponses(os.Getenv("BASE_URL"), petstore.WithRequestEditorFn(authorize))
	check(err)
	return made
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	store := client(os.Getenv("API_KEY"))
	status := petstore.Pending
	key := os.Getenv("IDEMPOTENCY_KEY")
	params := &petstore.CreatePetParams{IdempotencyKey: &key}

	created, err := store.CreatePetWithResponse(ctx, params, petstore.NewPet{Name: "Go", CategoryId: 9223372036854775807, Status: &status})
	check(err)
	pet := *created.JSON201

	listed := 0
	limit := int32(2)
	for cursor, more := (*string)(nil), true; more; more = cursor != nil {
		page, err := store.ListPetsWithResponse(ctx, &petstore.ListPetsParams{Limit: &limit, Status: &status, Cursor: cursor})
		check(err)
		for _, found := range *page.JSON200 {
			if found == pet {
				listed++
			}
		}
		cursor = nextCursor(page.HTTPResponse)
	}

	got, err := store.GetPetWithResponse(ctx, pet.Id)
	check(err)

	invalid, err := store.CreatePetWithResponse(ctx, nil, petstore.NewPet{})
	check(err)
	unauthorized, err := client("wrong").ListPetsWithResponse(ctx, nil)
	check(err)
	missing, err := store.GetPetWithResponse(ctx, 1)
	check(err)

	result, err := json.Marshal(map[string]any{
		"categoryId": fmt.Sprint(pet.CategoryId),
		"listed":     listed,
		"got":        *got.JSON200 == pet,
		"errors":     []petstore.ErrorCode{invalid.JSON400.Code, unauthorized.JSON401.Code, missing.JSON404.Code},
	})
	check(err)
	fmt.Println(string(result))
}
