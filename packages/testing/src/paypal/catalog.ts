// The product catalog that PayPal keeps.
import { type Answer, answer, refusal } from './answers.ts'
import { paypalId } from './ids.ts'
import { at, textAt } from './json.ts'

export type Product = {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type: string
}

const text256 = /^.{1,256}$/s

export type Catalog = {
  create(json: unknown): Answer
  show(id: string): Answer
  patch(id: string, json: unknown): Answer
  readonly products: ReadonlyMap<string, Product>
}

export function createCatalog(): Catalog {
  const products = new Map<string, Product>()
  return {
    create(json) {
      const id = at(json, 'id') === undefined ? `PROD-${paypalId()}` : textAt(json, /^.{6,50}$/, 'id')
      const name = textAt(json, /^.{1,127}$/, 'name')
      const type = textAt(json, /^(PHYSICAL|DIGITAL|SERVICE)$/, 'type')
      const description = textAt(json, text256, 'description')
      const isDescribed = at(json, 'description') !== undefined
      if (id === undefined || name === undefined || type === undefined || isDescribed !== (description !== undefined))
        return refusal(400, 'INVALID_PARAMETER_SYNTAX')
      if (products.has(id)) return refusal(422, 'DUPLICATE_RESOURCE_IDENTIFIER')
      products.set(id, { id, name, type, ...(description === undefined ? {} : { description }) })
      return answer(201, () => ({ ...products.get(id), create_time: '2026-09-01T10:00:00Z', links: [] }))
    },
    show(id) {
      const product = products.get(id)
      return product ? answer(200, () => ({ ...product, links: [] })) : refusal(404, 'INVALID_RESOURCE_ID')
    },
    patch(id, json) {
      const product = products.get(id)
      if (!product) return refusal(404, 'INVALID_RESOURCE_ID')
      // The name and the type are fixed.
      const description = textAt(json, text256, 0, 'value')
      const op = textAt(json, product.description === undefined ? /^add$/ : /^(add|replace)$/, 0, 'op')
      if (op === undefined || at(json, 0, 'path') !== '/description' || at(json, 1) !== undefined)
        return refusal(422, 'INVALID_PATCH_OPERATION')
      if (description === undefined) return refusal(400, 'INVALID_PARAMETER_SYNTAX')
      products.set(id, { ...product, description })
      return answer(204, () => undefined)
    },
    products,
  }
}
