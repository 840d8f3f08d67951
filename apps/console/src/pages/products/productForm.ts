// A product as somebody edits it, with amounts as text.
import type { Product, ProductChange } from '../../api/apiTypes.ts'
import { decimalOf, parseMoney } from '../../format/money.ts'
import { oneOf } from '../../search.ts'
import { productTypes } from './productsSearch.ts'

export const intervals = ['day', 'week', 'month', 'year'] as const

export type ProductForm = {
  readonly name: string
  readonly description: string
  readonly product_type: string
  readonly currency: string
  readonly subtotal: string
  readonly tax: string
  readonly discount: string
  /** Empty for a product that is paid once. */
  readonly billing_interval: string
  readonly trial_days: string
  readonly category_id: string
  readonly is_active: boolean
}

export const emptyForm: ProductForm = {
  name: '',
  description: '',
  product_type: 'service',
  currency: 'EUR',
  subtotal: '',
  tax: '',
  discount: '',
  billing_interval: '',
  trial_days: '',
  category_id: '',
  is_active: true,
}

export function formOf(product: Product): ProductForm {
  const { currency } = product
  return {
    name: product.name,
    description: product.description ?? '',
    product_type: product.product_type,
    currency,
    subtotal: decimalOf(product.subtotal_cents, currency),
    tax: decimalOf(product.tax_cents, currency),
    discount: decimalOf(product.discount_cents, currency),
    billing_interval: product.billing_interval ?? '',
    trial_days: product.trial_days === null ? '' : String(product.trial_days),
    category_id: product.category_id ?? '',
    is_active: product.is_active,
  }
}

type Field = keyof ProductForm

/** What keeps the form from being sent, by field. The API checks the rest. */
export function problemsOf(form: ProductForm): Partial<Record<Field, string>> {
  const problems: Partial<Record<Field, string>> = {}
  if (form.name.trim() === '') problems.name = 'Enter a name'
  if (!/^[A-Za-z]{3}$/.test(form.currency.trim())) problems.currency = 'Enter a code such as EUR'
  const currency = form.currency.trim().toUpperCase()
  if (parseMoney(form.subtotal, currency) === null) problems.subtotal = `Enter an amount in ${currency}`
  for (const field of ['tax', 'discount'] as const) {
    if (form[field].trim() !== '' && parseMoney(form[field], currency) === null)
      problems[field] = `Enter an amount in ${currency}`
  }
  if (form.trial_days.trim() !== '' && !/^\d{1,3}$/.test(form.trial_days.trim()))
    problems.trial_days = 'Enter a number of days'
  return problems
}

const textOrNull = (text: string) => (text.trim() === '' ? null : text.trim())

type FullChange = ProductChange & { name: string; currency: string; product_type: Product['product_type'] }

/** The complete product of a form without problems. */
export function productOf(form: ProductForm): FullChange {
  const currency = form.currency.trim().toUpperCase()
  const billing_interval = oneOf(intervals, form.billing_interval) ?? null
  return {
    name: form.name.trim(),
    description: textOrNull(form.description),
    product_type: oneOf(productTypes, form.product_type) ?? 'service',
    currency,
    subtotal_cents: parseMoney(form.subtotal, currency),
    tax_cents: parseMoney(form.tax, currency) ?? 0,
    discount_cents: parseMoney(form.discount, currency) ?? 0,
    is_recurring: billing_interval !== null,
    billing_interval,
    trial_days: billing_interval === null || form.trial_days.trim() === '' ? null : Number(form.trial_days),
    category_id: textOrNull(form.category_id),
    is_active: form.is_active,
  }
}

/** What a form changes of a product; nothing that stays as it is. Amounts go together, because they depend on each other. */
export function changesOf(product: Product, form: ProductForm): ProductChange {
  const wanted = productOf(form)
  const isChanged = ([name, value]: [string, unknown]) =>
    value !== Object.entries(product).find(([key]) => key === name)?.[1]
  const changes: ProductChange = Object.fromEntries(Object.entries(wanted).filter(isChanged))
  const amounts = ['subtotal_cents', 'tax_cents', 'discount_cents'] as const
  if (!amounts.some((name) => name in changes)) return changes
  const { subtotal_cents, tax_cents, discount_cents } = wanted
  return { ...changes, subtotal_cents, tax_cents, discount_cents }
}
