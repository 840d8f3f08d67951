// One product at Stripe, without its prices.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkResponse } from '../answers.ts'
import { Code } from '../fields.ts'
import type { CatalogProduct, ProviderProductIds } from '../productCatalog.ts'
import type { StripeApi } from './api.ts'
import { idIn, Maybe, Reference } from './fields.ts'
import { isMissing, isAlreadyExisting, rejected } from './refusals.ts'

const productResponse = Compile(Type.Object({ id: Code, default_price: Maybe(Reference) }))

export type PresentProduct = { readonly id: string; readonly default_price: string | null; readonly isNew: boolean }

/**
 * Sees to it that the product is there as ours is. Its id is ours, and Stripe refuses a second one with it: a call whose
 * answer was lost never makes a second product, however late it is made again.
 * @throws ProviderError
 */
export async function upsertProduct(
  call: StripeApi['call'],
  product: CatalogProduct,
  known: ProviderProductIds | null,
): Promise<PresentProduct> {
  const present =
    (known && (await updateProduct(call, known.provider_product_id, product))) ??
    (await createProduct(call, product)) ??
    (await updateProduct(call, product.product_id, product))
  if (present) return present
  throw rejected('product_id_spent')
}

/** @returns `null` when a product with this id is there already */
function createProduct(call: StripeApi['call'], product: CatalogProduct): Promise<PresentProduct | null> {
  const { product_id, name, description } = product
  return call(async (stripe, timeLeft) => {
    try {
      const response = await stripe.products.create(
        { id: product_id, name, ...(description ? { description } : {}), metadata: metadataOf(product) },
        timeLeft(),
      )
      return presentProduct(response, { isNew: true })
    } catch (error) {
      if (isAlreadyExisting(error)) return null
      throw error
    }
  })
}

/** @returns `null` when there is none with this id */
function updateProduct(call: StripeApi['call'], id: string, product: CatalogProduct): Promise<PresentProduct | null> {
  const { name, description } = product
  return call(async (stripe, timeLeft) => {
    try {
      const response = await stripe.products.update(
        id,
        // An empty text clears.
        { name, description: description ?? '', active: true, metadata: metadataOf(product) },
        timeLeft(),
      )
      return presentProduct(response, { isNew: false })
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  })
}

/** Stripe's own `type` only tells goods from services, for subscriptions of an older kind. */
function metadataOf({ product_id, product_type }: CatalogProduct) {
  return { product_id, product_type }
}

function presentProduct(response: unknown, { isNew }: { readonly isNew: boolean }): PresentProduct {
  const { id, default_price } = checkResponse(productResponse, response)
  return { id, default_price: idIn(default_price), isNew }
}
