// The single calls about products in PayPal's catalogue. Prices are no part of them.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type HttpResponse, readResponse } from '../http.ts'
import type { PaypalClient } from './client.ts'
import { rejectionError } from './refusals.ts'
import { requestKeyOf } from './requestKeys.ts'

const PaypalProduct = Type.Object({
  id: Code,
  name: Type.String(),
  description: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
})
export type PaypalProduct = Static<typeof PaypalProduct>
const paypalProduct = Compile(PaypalProduct)

export type NewPaypalProduct = {
  /** 6 to 50 characters; PayPal refuses a second product with the same id. */
  readonly id: string
  /** At most 127 characters, and fixed from then on. */
  readonly name: string
  /** At most 256 characters. */
  readonly description: string | null
  readonly type: 'PHYSICAL' | 'DIGITAL' | 'SERVICE'
}

/**
 * @returns `null` when there is a product with this id already; the same key gets the product that it made, as it is now
 * @throws ProviderError
 */
export async function createProduct(
  client: PaypalClient,
  { idempotency_key, product }: { readonly idempotency_key: string; readonly product: NewPaypalProduct },
): Promise<PaypalProduct | null> {
  const { description, ...rest } = product
  const body = JSON.stringify({ ...rest, ...(description === null ? {} : { description }) })
  const call = {
    method: 'POST',
    path: '/v1/catalogs/products',
    key: requestKeyOf(idempotency_key, body),
    body,
  } as const
  const created = await client.call(call, readProduct)
  if (!created.refusal) return created.value
  if (created.refusal.issue === 'DUPLICATE_RESOURCE_IDENTIFIER') return null
  throw rejectionError(created.refusal)
}

/**
 * Gives a product another description, the only part of ours that PayPal lets be changed.
 * @param description `null`: none any more
 * @throws ProviderError
 */
export async function describeProduct(
  client: PaypalClient,
  productId: string,
  description: string | null,
): Promise<void> {
  const path = '/description'
  // `add` also replaces what is there.
  const body = JSON.stringify([description === null ? { op: 'remove', path } : { op: 'add', path, value: description }])
  const { refusal: rejection } = await client.call(
    { method: 'PATCH', path: productPath(productId), body },
    () => undefined,
  )
  if (!rejection) return
  // What somebody has removed meanwhile, or we ourselves in a call whose answer was lost, cannot be removed again.
  const there = await getProduct(client, productId)
  if (there === null || descriptionOf(there) !== description) throw rejectionError(rejection)
}

/** `null` when it has none. */
export function descriptionOf({ description = '' }: PaypalProduct): string | null {
  return description === '' ? null : description
}

/** @returns `null` when there is no such product. @throws ProviderError */
export async function getProduct(client: PaypalClient, productId: string): Promise<PaypalProduct | null> {
  const found = await client.call({ method: 'GET', path: productPath(productId) }, readProduct)
  if (!found.refusal) return found.value
  if (found.refusal.status === 404) return null
  throw rejectionError(found.refusal)
}

const readProduct = (answer: HttpResponse): PaypalProduct => readResponse(paypalProduct, answer)

const productPath = (productId: string) => `/v1/catalogs/products/${encodeURIComponent(productId)}`
