// What an administrator sends of a product, in a request or as a line of an import, and the rules that it keeps to.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import { LongText, Nullable, RequiredText } from '../fields.ts'
import { AmountCents, type AmountParts, type Amounts, isCurrency, resolveAmounts } from '../money.ts'
import { BillingInterval, type ProductContent, ProductType } from './events.ts'

/** Stripe's limit, which is the longest among the providers. */
export const maxTrialDays = 730

const amount = (description: string) =>
  Type.Optional(Nullable(Type.With(AmountCents, { description: `Minor units. ${description}` })))

const optional = {
  description: Type.Optional(Nullable(LongText)),
  is_recurring: Type.Optional(Type.Boolean({ description: 'Billed again and again; false unless it is said' })),
  subtotal_cents: amount('The price before tax and discount. One of total_cents and subtotal_cents is required'),
  tax_cents: amount('0 unless it is said'),
  discount_cents: amount('0 unless it is said'),
  total_cents: amount('What is paid: subtotal_cents + tax_cents - discount_cents. 0 is allowed'),
  billing_interval: Type.Optional(
    Type.Union([BillingInterval, Type.Null()], { description: 'Of a recurring product, which must have one' }),
  ),
  trial_days: Type.Optional(
    Nullable(Type.Integer({ minimum: 0, maximum: maxTrialDays, description: 'Of a recurring product only' })),
  ),
  category_id: Type.Optional(Nullable(RequiredText)),
  is_active: Type.Optional(Type.Boolean({ description: 'True unless it is said' })),
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
 * @throws DomainError what `requireSoundContent` throws, `amount_inconsistent`
 */
export function newContent(product: NewProduct): ProductContent {
  const { name, product_type, currency, subtotal_cents = null, total_cents = null } = product
  const content = {
    name,
    description: product.description ?? null,
    product_type,
    is_recurring: product.is_recurring ?? false,
    currency: currency.toUpperCase(),
    billing_interval: product.billing_interval ?? null,
    trial_days: product.trial_days ?? null,
    category_id: product.category_id ?? null,
  }
  requireValidContent({ ...content, subtotal_cents, total_cents })
  return { ...content, ...resolveAmounts(given(product)) }
}

/**
 * The content of a product with changes made to it, complete. Tax and discount keep their values unless they are changed,
 * and so does the subtotal unless it or the total is.
 * @throws DomainError what `requireSoundContent` throws, `amount_inconsistent`
 */
export function changedContent(before: ProductContent, changes: ProductChanges): ProductContent {
  requireValidContent(changes)
  const content = {
    name: changes.name ?? before.name,
    description: orUnchanged(changes.description, before.description),
    product_type: changes.product_type ?? before.product_type,
    is_recurring: changes.is_recurring ?? before.is_recurring,
    currency: changes.currency?.toUpperCase() ?? before.currency,
    billing_interval: orUnchanged(changes.billing_interval, before.billing_interval),
    trial_days: orUnchanged(changes.trial_days, before.trial_days),
    category_id: orUnchanged(changes.category_id, before.category_id),
  }
  requireValidContent(content)
  return { ...content, ...changedAmounts(before, changes) }
}

function orUnchanged<Value>(change: Value | undefined, before: Value): Value {
  return change === undefined ? before : change
}

function changedAmounts(before: Amounts, changes: ProductChanges): Amounts {
  const givenAmounts = given(changes)
  const tax_cents = orUnchanged(changes.tax_cents, before.tax_cents) ?? 0
  const discount_cents = orUnchanged(changes.discount_cents, before.discount_cents) ?? 0
  return resolveAmounts({ ...givenAmounts, ...startOf(before, changes), tax_cents, discount_cents })
}

/**
 * The one of subtotal and total that the other is made of, when the changes give neither. It is the subtotal, on which
 * tax and discount act, unless that is what is cleared.
 */
function startOf(before: Amounts, { subtotal_cents, total_cents }: ProductChanges): AmountParts {
  if (typeof subtotal_cents === 'number' || typeof total_cents === 'number') return {}
  return subtotal_cents === null ? { total_cents: before.total_cents } : { subtotal_cents: before.subtotal_cents }
}

/** `null` counts as not given. */
function given({ subtotal_cents, tax_cents, discount_cents, total_cents }: ProductChanges): AmountParts {
  return {
    subtotal_cents: subtotal_cents ?? undefined,
    tax_cents: tax_cents ?? undefined,
    discount_cents: discount_cents ?? undefined,
    total_cents: total_cents ?? undefined,
  }
}

/**
 * Refuses what is wrong whatever else the product says. What is left out is not judged, so that changes can be looked at
 * before it is known what they change.
 * @throws DomainError `invalid_request`, naming the fields
 */
export function requireValidContent(content: ProductChanges): void {
  const { currency, is_recurring, billing_interval, subtotal_cents, total_cents } = content
  const recurringOnly = 'is allowed only when is_recurring'
  const rules: readonly [isBroken: boolean, field: string, message: string][] = [
    [content.name?.trim() === '', 'name', 'is required'],
    [currency !== undefined && !isCurrency(currency.toUpperCase()), 'currency', 'is not an ISO 4217 currency code'],
    [is_recurring === true && billing_interval === null, 'billing_interval', 'is required when is_recurring'],
    [is_recurring === false && Boolean(billing_interval), 'billing_interval', recurringOnly],
    [is_recurring === false && Boolean(content.trial_days), 'trial_days', recurringOnly],
    [subtotal_cents === null && total_cents === null, 'total_cents', 'is required without subtotal_cents'],
  ]
  const fields = rules.filter(([isBroken]) => isBroken).map(([, field, message]) => ({ field, message }))
  if (fields.length === 0) return
  const message = fields.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new DomainError('invalid_request', message, { fields })
}
