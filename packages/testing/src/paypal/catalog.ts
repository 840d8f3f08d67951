// The product catalogue that PayPal keeps.

import { at } from '../jsonAt.ts'
import { type Answer, answer, refusal } from './answers.ts'
import { paypalId } from './ids.ts'
import { textIssue } from './textIssue.ts'

export type Product = {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type: string
}

export type Catalog = {
  create(json: unknown): Answer
  show(id: string): Answer
  patch(id: string, json: unknown): Answer
  readonly products: ReadonlyMap<string, Product>
}

const limits = {
  id: { min: 6, max: 50, isRequired: false },
  name: { min: 1, max: 127, isRequired: true },
  description: { min: 1, max: 256, isRequired: false },
  type: { min: 1, max: 24, isRequired: true },
} as const
const types = ['PHYSICAL', 'DIGITAL', 'SERVICE']

export function createCatalog(): Catalog {
  const products = new Map<string, Product>()
  return {
    create(json) {
      for (const [field, limit] of Object.entries(limits)) {
        const issue = textIssue(at(json, field), limit)
        if (issue) return refusal(400, issue, `/${field}`)
      }
      const given = at(json, 'id')
      // Only PayPal's own ids begin like this.
      if (given !== undefined && String(given).startsWith('PROD-'))
        return refusal(400, 'INVALID_PARAMETER_SYNTAX', '/id')
      const type = String(at(json, 'type'))
      if (!types.includes(type)) return refusal(400, 'INVALID_PARAMETER_VALUE', '/type')
      const id = given === undefined ? `PROD-${paypalId()}` : String(given)
      if (products.has(id)) return refusal(422, 'DUPLICATE_RESOURCE_IDENTIFIER')
      const description = at(json, 'description')
      const described = description === undefined ? {} : { description: String(description) }
      products.set(id, { id, name: String(at(json, 'name')), type, ...described })
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
      if (at(json, 0, 'path') !== '/description' || at(json, 1) !== undefined) return refusal(400, 'INVALID_PATCH_PATH')
      const { description: former, ...rest } = product
      const op = at(json, 0, 'op')
      if (op === 'replace' || op === 'remove') {
        if (former === undefined) return refusal(400, 'INVALID_PARAMETER_VALUE', '/description')
      } else if (op !== 'add') return refusal(400, 'UNSUPPORTED_PATCH_OPERATION')
      const description = at(json, 0, 'value')
      const issue = op === 'remove' ? undefined : textIssue(description, { ...limits.description, isRequired: true })
      if (issue) return refusal(400, issue, '/description')
      products.set(id, op === 'remove' ? rest : { ...rest, description: String(description) })
      return answer(204, () => undefined)
    },
    products,
  }
}
