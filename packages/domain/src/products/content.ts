// The content of a product as sent in a request or an import, and its validation.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import { LongText, Nullable, RequiredText } from '../fields.ts'
import { AmountCents, type AmountParts, type Amounts, isCurrency, resolveAmounts } from '../money.ts'
import { BillingInterval, type ProductContent, ProductType } from './events.ts'

/** Stripe's limit, the highest of all providers. */
export const maxTrialDays = 730

const amount = (description: string) =>
  Type.Optional(Nullable(Type.With(AmountCents, { description: `Minor units. ${description}` })))

const optional = {
  description: Type.Optional(Nullable(LongText)),
  is_recurring: Type.Optional(Type.Boolean({ description: 'Billed periodically. Default: false' })),
  subtotal_cents: amount('The price before tax and discount. Either total_cents or subtotal_cents is required'),
  tax_cents: amount('Default: 0'),
  discount_cents: amount('Default: 0'),
  total_cents: amount('The price to pay: subtotal_cents + tax_cents - discount_cents. 0 is allowed'),
  billing_interval: Type.Optional(
    Type.Union([BillingInterval, Type.Null()], { description: 'Required for a recurring product' }),
  ),
  trial_days: Type.Optional(
    Nullable(Type.Integer({ minimum: 0, maximum: maxTrialDays, description: 'Allowed only for a recurring product' })),
  ),
  category_id: Type.Optional(Nullable(RequiredText)),
  is_active: Type.Optional(Type.Boolean({ description: 'Default: true' })),
}
const Currency = Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217 code, any case' })

/** The fields of a new product. `null` counts as omitted. */
export const NewProduct = Type.Object({
  name: RequiredText,
  product_type: ProductType,
  currency: Currency,
  ...optional,
})
export type NewProduct = Static<typeof NewProduct>

/** Omitted fields stay, `null` clears a field. */
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
 * The complete content of a new product.
 * @throws DomainError `amount_inconsistent`, and the errors of `requireValidContent`
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
  return { ...content, ...resolveAmounts(amountParts(product)) }
}

/**
 * The complete content of a product after changes. Tax and discount stay unless they are changed; the subtotal stays unless
 * it or the total is changed.
 * @throws DomainError `amount_inconsistent`, and the errors of `requireValidContent`
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
  const parts = amountParts(changes)
  const tax_cents = orUnchanged(changes.tax_cents, before.tax_cents) ?? 0
  const discount_cents = orUnchanged(changes.discount_cents, before.discount_cents) ?? 0
  return resolveAmounts({ ...parts, ...basisOf(before, changes), tax_cents, discount_cents })
}

/**
 * The amount from which the other one is derived when the changes give neither subtotal nor total: the subtotal, unless the
 * changes clear it.
 */
function basisOf(before: Amounts, { subtotal_cents, total_cents }: ProductChanges): AmountParts {
  if (typeof subtotal_cents === 'number' || typeof total_cents === 'number') return {}
  return subtotal_cents === null ? { total_cents: before.total_cents } : { subtotal_cents: before.subtotal_cents }
}

/** `null` counts as omitted. */
function amountParts({ subtotal_cents, tax_cents, discount_cents, total_cents }: ProductChanges): AmountParts {
  return {
    subtotal_cents: subtotal_cents ?? undefined,
    tax_cents: tax_cents ?? undefined,
    discount_cents: discount_cents ?? undefined,
    total_cents: total_cents ?? undefined,
  }
}

/**
 * Checks the given fields and ignores omitted ones, so that changes can be checked before the product is loaded.
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
