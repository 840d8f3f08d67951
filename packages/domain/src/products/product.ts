// A product: its state, folded from its events, its commands, and its API resource.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import type { Fold } from '../events.ts'
import { differing, pick } from '../fields.ts'
import { changedContent, type ProductChanges } from './content.ts'
import { type ProductAdded, ProductContent, type ProductEvent, productContentOf } from './events.ts'
import { evolveSync, type ProviderSyncState } from './sync.ts'

export type Product = Omit<ProductAdded['data'], 'occurred_at'> & {
  readonly status: 'kept'
  readonly created_at: string
  /** Time of the last change by an administrator. */
  readonly updated_at: string
  /** Its sync state by provider id. */
  readonly at_providers: Readonly<Record<string, ProviderSyncState>>
}

export type ProductState = { readonly status: 'none' } | Product

export const productFold: Fold<ProductState, ProductEvent> = {
  initialState: Object.freeze({ status: 'none' }),
  evolve(state, event) {
    if (event.type !== 'ProductAdded') return state.status === 'none' ? state : evolved(state, event)
    const { occurred_at, ...added } = event.data
    return { ...added, status: 'kept', created_at: occurred_at, updated_at: occurred_at, at_providers: {} }
  },
}

function evolved(product: Product, event: Exclude<ProductEvent, ProductAdded>): Product {
  switch (event.type) {
    case 'ProductChanged':
      return { ...product, ...event.data.changes, updated_at: event.data.occurred_at }
    case 'ProductDeactivated':
    case 'ProductReactivated':
      return { ...product, is_active: event.type === 'ProductReactivated', updated_at: event.data.occurred_at }
    case 'ProductSyncStarted':
    case 'ProductSynced':
    case 'ProductSyncFailed': {
      const { provider_id } = event.data
      const at = evolveSync(product.at_providers[provider_id], event)
      return { ...product, at_providers: { ...product.at_providers, [provider_id]: at } }
    }
  }
}

/** @throws DomainError `not_found` */
export function existingProduct(state: ProductState): Product {
  if (state.status === 'none') throw new DomainError('not_found', 'No product with this id')
  return state
}

/**
 * Adds a product. One that exists stays unchanged: its id came from the same Idempotency-Key or import line.
 * @param command with the content from `newContent`
 */
export function addProduct(command: ProductAdded['data'], state: ProductState): ProductEvent[] {
  return state.status === 'none' ? [{ type: 'ProductAdded', data: command }] : []
}

export type ChangeProduct = { readonly occurred_at: string; readonly changes: ProductChanges }

/**
 * Changes a product. Values that it already has are not recorded again.
 * @throws DomainError `not_found`, and the errors of `changedContent`
 */
export function changeProduct({ occurred_at, changes }: ChangeProduct, state: ProductState): ProductEvent[] {
  const product = existingProduct(state)
  const content = changedContent(product, changes)
  return recordContent({ occurred_at, content, is_active: changes.is_active }, product)
}

export type RecordContent = {
  readonly occurred_at: string
  readonly content: ProductContent
  /** Undefined changes nothing. */
  readonly is_active: boolean | undefined
}

/** Replaces the whole content. Values that the product already has are not recorded again. */
export function recordContent({ occurred_at, content, is_active }: RecordContent, product: Product): ProductEvent[] {
  const facts = { product_id: product.product_id, occurred_at }
  const changes = differing(productContentOf(product), productContentOf(content))
  const events: ProductEvent[] = []
  if (Object.keys(changes).length > 0) events.push({ type: 'ProductChanged', data: { ...facts, changes } })
  if (is_active === false && product.is_active) events.push({ type: 'ProductDeactivated', data: facts })
  if (is_active === true && !product.is_active) events.push({ type: 'ProductReactivated', data: facts })
  return events
}

/** A product in API responses (interface, section 2.4). */
export const ProductResource = Type.Object(
  {
    id: Type.String(),
    ...ProductContent.properties,
    is_active: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Product' },
)
export type ProductResource = Static<typeof ProductResource>

export function productResource(product: Product): ProductResource {
  return pick(ProductResource, { ...product, id: product.product_id })
}
