// The fake's product catalogue.

import { valueAt } from '../fakeServer.ts'
import { errorResponse, type FakeResponse, missing, paypalId, respondWith, textIssue } from './responses.ts'

export type PaypalProduct = {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type: string
}

const limits = {
  id: { min: 6, max: 50, isRequired: false },
  name: { min: 1, max: 127, isRequired: true },
  description: { min: 1, max: 256, isRequired: false },
  type: { min: 1, max: 24, isRequired: true },
} as const
const types = ['PHYSICAL', 'DIGITAL', 'SERVICE']

export function createProductStore() {
  const products = new Map<string, PaypalProduct>()
  return {
    create(json: unknown): FakeResponse {
      for (const [field, limit] of Object.entries(limits)) {
        const issue = textIssue(valueAt(json, field), limit)
        if (issue) return errorResponse(400, issue, `/${field}`)
      }
      const given = valueAt(json, 'id')
      // This prefix is reserved for PayPal's own ids.
      if (given !== undefined && String(given).startsWith('PROD-'))
        return errorResponse(400, 'INVALID_PARAMETER_SYNTAX', '/id')
      const type = String(valueAt(json, 'type'))
      if (!types.includes(type)) return errorResponse(400, 'INVALID_PARAMETER_VALUE', '/type')
      const id = given === undefined ? `PROD-${paypalId()}` : String(given)
      if (products.has(id)) return errorResponse(422, 'DUPLICATE_RESOURCE_IDENTIFIER')
      const description = valueAt(json, 'description')
      const described = description === undefined ? {} : { description: String(description) }
      products.set(id, { id, name: String(valueAt(json, 'name')), type, ...described })
      return respondWith(201, () => ({ ...products.get(id), create_time: '2026-09-01T10:00:00Z', links: [] }))
    },
    show(id: string): FakeResponse {
      const product = products.get(id)
      return product ? respondWith(200, () => ({ ...product, links: [] })) : missing
    },
    patch(id: string, json: unknown): FakeResponse {
      const product = products.get(id)
      if (!product) return missing
      // Name and type cannot be changed.
      if (valueAt(json, 0, 'path') !== '/description' || valueAt(json, 1) !== undefined)
        return errorResponse(400, 'INVALID_PATCH_PATH')
      const { description: former, ...rest } = product
      const op = valueAt(json, 0, 'op')
      if (op === 'replace' || op === 'remove') {
        if (former === undefined) return errorResponse(400, 'INVALID_PARAMETER_VALUE', '/description')
      } else if (op !== 'add') return errorResponse(400, 'UNSUPPORTED_PATCH_OPERATION')
      const description = valueAt(json, 0, 'value')
      const issue = op === 'remove' ? undefined : textIssue(description, { ...limits.description, isRequired: true })
      if (issue) return errorResponse(400, issue, '/description')
      products.set(id, op === 'remove' ? rest : { ...rest, description: String(description) })
      return respondWith(204, () => undefined)
    },
    products: products as ReadonlyMap<string, PaypalProduct>,
  }
}
