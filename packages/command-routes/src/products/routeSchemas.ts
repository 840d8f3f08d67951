// What the routes of products take and answer, and what their documentation says.
import { exampleProduct } from '@paylog/domain/examples'
import { NewProduct, ProductChanges } from '@paylog/domain/products/content'
import { existingProduct, type ProductState } from '@paylog/domain/products/product'
import { ProductResource, productResource } from '@paylog/domain/products/resource'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { dataResponse } from '@paylog/runtime/http/openApiParts'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { responseHeaders, setWriteHeaders, writeErrors } from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'

const subscription = {
  name: 'Sample plan',
  description: 'Everything, every month',
  product_type: 'subscription',
  is_recurring: true,
  subtotal_cents: 1000,
  tax_cents: 190,
  currency: 'EUR',
  billing_interval: 'month',
  trial_days: 14,
} as const

const example = { success: true, data: exampleProduct }

const productResponse = (description: string, headers: object) =>
  dataResponse(ProductResource, { description, headers, examples: [example] })

const common = { tags: ['products'], security: [{ session: [] }] }

export const createSchema = {
  ...common,
  ...writeErrors(['amount_inconsistent', 'idempotency_key_reused']),
  operationId: 'createProduct',
  summary: 'Create a product',
  description:
    'For administrators. One of total_cents and subtotal_cents is required, and total = subtotal + tax - discount. billing_interval is required exactly when is_recurring. With an Idempotency-Key the request can be repeated safely.',
  headers: IdempotencyHeaders,
  body: Type.With(NewProduct, {
    examples: [
      subscription,
      { name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490, category_id: 'kitchen' },
    ],
  }),
  response: { 201: productResponse('The product was created', responseHeaders.created) },
}

export const changeSchema = {
  ...common,
  ...writeErrors(['not_found', 'precondition_failed', 'amount_inconsistent']),
  operationId: 'updateProduct',
  summary: 'Update a product',
  description:
    'For administrators. What is left out stays, null clears, and the result must satisfy the rules of creation. Tax and discount keep their values; of subtotal and total the one that is given makes the other, else the subtotal stays. With If-Match it is changed only as the client has seen it. To be recurring no more, billing_interval and trial_days have to be null as well. Providers learn of it by the next synchronisation; a product that is not active is not synchronised, and what a provider has of it stays as it is.',
  params: Type.Object({ id: Type.String({ description: 'The id of the product' }) }),
  headers: IfMatchHeaders,
  body: Type.With(ProductChanges, {
    examples: [{ total_cents: 1290 }, { description: null, is_active: false }],
  }),
  response: { 200: productResponse('The product as it is now', responseHeaders.changed) },
}

/** Answers with a product as its stream tells it. */
export function replyWithProduct(
  reply: FastifyReply,
  { state, ...write }: LoadedState<ProductState> & { readonly replayed?: boolean },
) {
  setWriteHeaders(reply, write)
  return { success: true as const, data: productResource(existingProduct(state)) }
}
