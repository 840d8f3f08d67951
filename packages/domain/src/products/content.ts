// What an administrator sends of a product, in a request or as a line of an import, and the rules that it keeps to.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import { LongText, Nullable, RequiredText, Text } from '../fields.ts'
import { AmountCents, type Amounts, isCurrency, resolveAmounts } from '../money.ts'
import { BillingInterval, type ProductContent, ProductType } from './events.ts'

/** Stripe's limit, which is the longest among the providers. */
export const maxTrialDays = 730

const optional = {
  description: Type.Optional(Nullable(LongText)),
  is_recurring: Type.Optional(Type.Boolean({ description: 'A product that is billed again and again' })),
  subtotal_cents: Type.Optional(Nullable(AmountCents)),
  tax_cents: Type.Optional(Nullable(AmountCents)),
  discount_cents: Type.Optional(Nullable(AmountCents)),
  total_cents: Type.Optional(Nullable(AmountCents)),
  billing_interval: Type.Optional(Nullable(BillingInterval)),
  trial_days: Type.Optional(
    Nullable(Type.Integer({ minimum: 0, maximum: maxTrialDays, description: 'Of a recurring product only' })),
  ),
  category_id: Type.Optional(Nullable(Text)),
  is_active: Type.Optional(Type.Boolean()),
}
const Currency = Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217 code, any case' })

/** Everything that a new product may say. `null` says nothing. */
export const NewProduct = Type.Object({
  name: RequiredText,
  product_type: ProductType,
  currency: Currency,
  ...optional,
})
export type NewProduct = Static<typeof NewProduct>

/** What is left out stays, `null` clears. */
export const ProductChanges = Type.Object(
  {
    name: Type.Optional(RequiredText),
    product_type: Type.Optional(ProductType),
    currency: Type.Optional(Currency),
    ...optional,
  },
  { minProperties: 1 },
)
export type ProductChanges = Static<typeof ProductChanges>

/**
 * The content of a new product, complete.
 * @throws DomainError `invalid_request`, `amount_inconsistent`
 */
export function newContent(product: NewProduct): ProductContent {
  const { name, product_type, currency } = product
  return sound({
    name,
    description: product.description ?? null,
    product_type,
    is_recurring: product.is_recurring ?? false,
    ...resolveAmounts(given(product)),
    currency: currency.toUpperCase(),
    billing_interval: product.billing_interval ?? null,
    trial_days: product.trial_days ?? null,
    category_id: product.category_id ?? null,
  })
}

/**
 * The content of a product with changes made to it, complete. Tax and discount keep their values unless they are changed,
 * and so does the subtotal unless it or the total is.
 * @throws DomainError `invalid_request`, `amount_inconsistent`
 */
export function changedContent(before: ProductContent, changes: ProductChanges): ProductContent {
  const { name, product_type, currency, is_recurring } = changes
  return sound({
    name: name ?? before.name,
    description: kept(changes.description, before.description),
    product_type: product_type ?? before.product_type,
    is_recurring: is_recurring ?? before.is_recurring,
    ...changedAmounts(before, changes),
    currency: currency?.toUpperCase() ?? before.currency,
    billing_interval: kept(changes.billing_interval, before.billing_interval),
    trial_days: kept(changes.trial_days, before.trial_days),
    category_id: kept(changes.category_id, before.category_id),
  })
}

function kept<Value>(change: Value | undefined, before: Value): Value {
  return change === undefined ? before : change
}

function changedAmounts(before: Amounts, changes: ProductChanges): Amounts {
  const { subtotal_cents, total_cents } = changes
  const said = given(changes)
  return resolveAmounts({
    ...said,
    tax_cents: kept(changes.tax_cents, before.tax_cents) ?? 0,
    discount_cents: kept(changes.discount_cents, before.discount_cents) ?? 0,
    // One of the two makes the other. The total is what is left when the subtotal alone is cleared.
    ...(said.total_cents === undefined && subtotal_cents === undefined && { subtotal_cents: before.subtotal_cents }),
    ...(subtotal_cents === null && total_cents === undefined && { total_cents: before.total_cents }),
  })
}

/** `null` counts as not given. */
function given({ subtotal_cents, tax_cents, discount_cents, total_cents }: ProductChanges) {
  return {
    subtotal_cents: subtotal_cents ?? undefined,
    tax_cents: tax_cents ?? undefined,
    discount_cents: discount_cents ?? undefined,
    total_cents: total_cents ?? undefined,
  }
}

function sound(content: ProductContent): ProductContent {
  const { name, currency, is_recurring, billing_interval, trial_days } = content
  const problems = [
    ...(name.trim() === '' ? [{ field: 'name', message: 'is required' }] : []),
    ...(isCurrency(currency) ? [] : [{ field: 'currency', message: 'is not an ISO 4217 currency code' }]),
    ...(is_recurring && billing_interval === null
      ? [{ field: 'billing_interval', message: 'is required when is_recurring' }]
      : []),
    ...(!is_recurring && billing_interval !== null
      ? [{ field: 'billing_interval', message: 'is allowed only when is_recurring' }]
      : []),
    ...(!is_recurring && trial_days ? [{ field: 'trial_days', message: 'is allowed only when is_recurring' }] : []),
  ]
  if (problems.length === 0) return content
  throw new DomainError('invalid_request', problems.map(({ field, message }) => `${field} ${message}`).join('; '), {
    fields: problems,
  })
}
