// The fake Stripe's routes for products and prices.

import type { NewPrice, NewProduct, StripePrice } from './bodies.ts'
import { addPrice, addProduct, changePrice, changeProduct, type PriceChange, type ProductChange } from './catalog.ts'
import { invalid, noSuch } from './errors.ts'
import { checkPrice, flagIn, numberIn, textIn, type Values, valuesIn } from './params.ts'
import { found, pageOf, type Route, type RouteCall, route } from './state.ts'

const intervals = new Set(['day', 'week', 'month', 'year'])
const maxTrialDays = 730

export const catalogRoutes: readonly Route[] = [
  route(
    'POST products',
    { id: 'text', name: ['required', 'text'], description: 'text', active: 'boolean', metadata: 'texts' },
    ({ state, values, key }) => addProduct(state, values as NewProduct, key),
  ),
  route(
    'POST products/:id',
    {
      name: 'text',
      description: 'clearable',
      active: 'boolean',
      default_price: 'clearable',
      metadata: 'texts',
    },
    ({ state, id, values, key }) =>
      changeProduct(state, {
        product: found(state.products, 'product', id, 'id'),
        change: values as ProductChange,
        key,
      }),
  ),
  route('GET prices', { product: 'text', active: 'boolean', limit: 'integer', starting_after: 'text' }, listPrices),
  route(
    'POST prices',
    {
      currency: ['required', 'text'],
      unit_amount: ['required', 'integer'],
      product: ['required', 'text'],
      recurring: { interval: ['required', 'text'], interval_count: 'integer', trial_period_days: 'integer' },
      metadata: 'texts',
      active: 'boolean',
    },
    createPrice,
  ),
  // Fields that define the price cannot be changed.
  route('POST prices/:id', { active: 'boolean', metadata: 'texts' }, ({ state, id, values, key }) =>
    changePrice(state, { price: found(state.prices, 'price', id), change: values as PriceChange, key }),
  ),
]

function createPrice({ state, values, key }: RouteCall): StripePrice {
  const currency = (textIn(values, 'currency') ?? '').toLowerCase()
  const unit_amount = numberIn(values, 'unit_amount') ?? 0
  checkPrice(unit_amount, currency)
  const price = { ...(values as Partial<NewPrice>), product: textIn(values, 'product') ?? '', currency, unit_amount }
  return addPrice(state, { ...price, recurring: recurringIn(values) }, key)
}

function recurringIn(values: Values) {
  const recurring = valuesIn(values, 'recurring')
  if (recurring === null) return null
  const interval = textIn(recurring, 'interval') ?? ''
  const trial_period_days = numberIn(recurring, 'trial_period_days')
  if (!intervals.has(interval))
    throw invalid(
      undefined,
      `Invalid recurring[interval]: must be one of day, week, month, or year`,
      'recurring[interval]',
    )
  if (trial_period_days !== null && (trial_period_days < 1 || trial_period_days > maxTrialDays))
    throw invalid('parameter_invalid_integer', 'Invalid trial period.', 'recurring[trial_period_days]')
  return { interval, interval_count: numberIn(recurring, 'interval_count'), trial_period_days }
}

function listPrices({ state, values }: RouteCall) {
  const [product, active] = [textIn(values, 'product'), flagIn(values, 'active')]
  if (product !== null && !state.products.has(product)) throw noSuch('product', product, 'product', 400)
  const matches = (price: StripePrice) =>
    (product === null || price.product === product) && (active === null || price.active === active)
  return pageOf(state.prices, 'price', { values, matches })
}
