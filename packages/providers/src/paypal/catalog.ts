// The product catalog: what a product is called at PayPal. Prices are no part of it.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type HttpAnswer, readAnswer } from '../http.ts'
import type { PaypalClient } from './client.ts'
import { refused } from './refusals.ts'

const CatalogProduct = Type.Object({
  id: Code,
  name: Type.String(),
  description: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
})
export type CatalogProduct = Static<typeof CatalogProduct>
const catalogProduct = Compile(CatalogProduct)

export type NewCatalogProduct = {
  /** 6 to 50 characters; PayPal refuses a second product with the same id. */
  readonly id: string
  /** At most 127 characters, and fixed from then on. */
  readonly name: string
  /** At most 256 characters. */
  readonly description: string | null
  readonly type: 'PHYSICAL' | 'DIGITAL' | 'SERVICE'
}

/** @throws ProviderError */
export async function createProduct(
  client: PaypalClient,
  { idempotency_key, product }: { readonly idempotency_key: string; readonly product: NewCatalogProduct },
): Promise<CatalogProduct> {
  const { description, ...rest } = product
  const body = JSON.stringify({ ...rest, ...(description === null ? {} : { description }) })
  const call = { method: 'POST', path: '/v1/catalogs/products', key: idempotency_key, body } as const
  const created = await client.call(call, readProduct)
  if (created.refusal) throw refused(created.refusal)
  return created.value
}

/** Gives a product another description, the only part of ours that PayPal lets be changed. @throws ProviderError */
export async function describeProduct(client: PaypalClient, productId: string, description: string): Promise<void> {
  // `add` also replaces what is there.
  const body = JSON.stringify([{ op: 'add', path: '/description', value: description }])
  const { refusal } = await client.call({ method: 'PATCH', path: productPath(productId), body }, () => undefined)
  if (refusal) throw refused(refusal)
}

/** @returns `null` when there is no such product. @throws ProviderError */
export async function getProduct(client: PaypalClient, productId: string): Promise<CatalogProduct | null> {
  const found = await client.call({ method: 'GET', path: productPath(productId) }, readProduct)
  if (!found.refusal) return found.value
  if (found.refusal.status === 404) return null
  throw refused(found.refusal)
}

const readProduct = (answer: HttpAnswer): CatalogProduct => readAnswer(catalogProduct, answer)

const productPath = (productId: string) => `/v1/catalogs/products/${encodeURIComponent(productId)}`
