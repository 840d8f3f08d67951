// The content of a product as sent in a request or an import, and its validation.
import { type Static, Type } from 'typebox'
import { invalidFields } from '../errors.ts'
import { LongText, Nullable, RequiredText } from '../fields.ts'
import { AmountCents, type AmountParts, CurrencyCode, isCurrency, resolveAmounts } from '../money.ts'
import { BillingInterval, type ProductContent, ProductType, productContentOf } from './events.ts'

/** Stripe's limit, the highest of all providers. */
export const maxTrialDays = 730

const amount = (description: string) =>
  Type.Optional(Nullable(Type.With(AmountCents, { description: `Minor units. ${description}` })))

/** The fields of a new product. `null` counts as omitted. */
export const NewProduct = Type.Object(
  {
    name: RequiredText,
    product_type: ProductType,
    currency: CurrencyCode,
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
      Nullable(
        Type.Integer({ minimum: 0, maximum: maxTrialDays, description: 'Allowed only for a recurring product' }),
      ),
    ),
    category_id: Type.Optional(Nullable(RequiredText)),
    is_active: Type.Optional(Type.Boolean({ description: 'Default: true' })),
  },
  { title: 'NewProduct' },
)
export type NewProduct = Static<typeof NewProduct>

/** Omitted fields stay, `null` clears a field. */
export const ProductChanges = Type.Partial(NewProduct)
export type ProductChanges = Static<typeof ProductChanges>

const defaults = { description: null, is_recurring: false, billing_interval: null, trial_days: null, category_id: null }

/**
 * The complete content of a new product.
 * @throws DomainError `amount_inconsistent`, and the errors of `requireValidContent`
 */
export function newContent(product: NewProduct): ProductContent {
  const content = { ...defaults, ...product, currency: product.currency.toUpperCase() }
  requireValidContent({ subtotal_cents: null, total_cents: null, ...content })
  return productContentOf({ ...content, ...resolveAmounts(product) })
}

/**
 * The complete content of a product after changes. Tax and discount stay unless they are changed; the subtotal stays unless
 * it or the total is changed.
 * @throws DomainError `amount_inconsistent`, and the errors of `requireValidContent`
 */
export function changedContent(before: ProductContent, changes: ProductChanges): ProductContent {
  requireValidContent(changes)
  const content = { ...before, ...changes, currency: (changes.currency ?? before.currency).toUpperCase() }
  requireValidContent(content)
  const { tax_cents, discount_cents } = content
  return productContentOf({ ...content, ...resolveAmounts({ ...basisOf(before, changes), tax_cents, discount_cents }) })
}

/**
 * The amounts from which the others are derived: those that the changes give, or else the subtotal, unless the changes
 * clear it.
 */
function basisOf(before: ProductContent, { subtotal_cents, total_cents }: ProductChanges): AmountParts {
  if (typeof subtotal_cents === 'number' || typeof total_cents === 'number') return { subtotal_cents, total_cents }
  return subtotal_cents === null ? { total_cents: before.total_cents } : { subtotal_cents: before.subtotal_cents }
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
  if (fields.length > 0) throw invalidFields(fields)
}
