// The fake Stripe's routes for products and prices.

import type { StripePrice, StripeProduct } from './bodies.ts'
import { addPrice, addProduct, changePrice, changeProduct } from './catalog.ts'
import { invalid, noSuch } from './errors.ts'
import { checkPrice, flagIn, numberIn, textIn, textsIn, type Values, valuesIn } from './params.ts'
import type { Route, RouteCall, StripeState } from './state.ts'

const intervals = new Set(['day', 'week', 'month', 'year'])
const maxTrialDays = 730

export const catalogRoutes: readonly Route[] = [
  {
    method: 'POST',
    pattern: /^\/v1\/products$/,
    params: { id: 'text', name: ['required', 'text'], description: 'text', active: 'boolean', metadata: 'texts' },
    act: createProduct,
  },
  {
    method: 'GET',
    pattern: /^\/v1\/products\/([\w-]+)$/,
    params: {},
    act: ({ state, id }) => productAt(state, id),
  },
  {
    method: 'POST',
    pattern: /^\/v1\/products\/([\w-]+)$/,
    params: {
      name: 'text',
      description: 'clearable',
      active: 'boolean',
      default_price: 'clearable',
      metadata: 'texts',
    },
    act: updateProduct,
  },
  {
    method: 'GET',
    pattern: /^\/v1\/prices$/,
    params: { product: 'text', active: 'boolean', limit: 'integer', starting_after: 'text' },
    act: listPrices,
  },
  {
    method: 'POST',
    pattern: /^\/v1\/prices$/,
    params: {
      currency: ['required', 'text'],
      unit_amount: ['required', 'integer'],
      product: ['required', 'text'],
      recurring: { interval: ['required', 'text'], interval_count: 'integer', trial_period_days: 'integer' },
      metadata: 'texts',
      active: 'boolean',
      nickname: 'text',
    },
    act: createPrice,
  },
  {
    method: 'GET',
    pattern: /^\/v1\/prices\/(\w+)$/,
    params: {},
    act: ({ state, id }) => priceAt(state, id),
  },
  {
    method: 'POST',
    pattern: /^\/v1\/prices\/(\w+)$/,
    // Fields that define the price cannot be changed.
    params: { active: 'boolean', metadata: 'texts', nickname: 'clearable' },
    act: updatePrice,
  },
]

function createProduct({ state, values, key }: RouteCall): StripeProduct {
  const product = {
    id: textIn(values, 'id'),
    name: textIn(values, 'name') ?? '',
    description: textIn(values, 'description'),
    active: flagIn(values, 'active'),
    metadata: textsIn(values, 'metadata'),
  }
  return addProduct(state, product, key)
}

function updateProduct({ state, id, values, key }: RouteCall): StripeProduct {
  const change = {
    name: textIn(values, 'name'),
    description: textIn(values, 'description'),
    active: flagIn(values, 'active'),
    default_price: textIn(values, 'default_price'),
    metadata: textsIn(values, 'metadata'),
  }
  return changeProduct(state, { product: productAt(state, id), change, key })
}

function createPrice({ state, values, key }: RouteCall): StripePrice {
  const currency = (textIn(values, 'currency') ?? '').toLowerCase()
  const unit_amount = numberIn(values, 'unit_amount') ?? 0
  checkPrice(unit_amount, currency)
  const price = {
    product: textIn(values, 'product') ?? '',
    currency,
    unit_amount,
    recurring: recurringIn(values),
    metadata: textsIn(values, 'metadata'),
    active: flagIn(values, 'active'),
    nickname: textIn(values, 'nickname'),
  }
  return addPrice(state, price, key)
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

function updatePrice({ state, id, values, key }: RouteCall): StripePrice {
  const change = {
    active: flagIn(values, 'active'),
    metadata: textsIn(values, 'metadata'),
    nickname: textIn(values, 'nickname'),
  }
  return changePrice(state, { price: priceAt(state, id), change, key })
}

/** Newest first. */
function listPrices({ state, values }: RouteCall) {
  const [product, active] = [textIn(values, 'product'), flagIn(values, 'active')]
  const [limit, after] = [numberIn(values, 'limit') ?? 10, textIn(values, 'starting_after')]
  if (limit < 1 || limit > 100)
    throw invalid('parameter_invalid_integer', 'This value must be between 1 and 100.', 'limit')
  if (product !== null && !state.products.has(product)) throw noSuch('product', product, 'product', 400)
  if (after !== null && !state.prices.has(after)) throw noSuch('price', after, 'starting_after', 400)
  const all = [...state.prices.values()].reverse()
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  const matching = all
    .slice(from)
    .filter((price) => (product === null || price.product === product) && (active === null || price.active === active))
  return {
    object: 'list',
    data: matching.slice(0, limit),
    has_more: matching.length > limit,
    url: '/v1/prices',
  }
}

function productAt(state: StripeState, id: string): StripeProduct {
  const product = state.products.get(id)
  if (!product) throw noSuch('product', id, 'id', 404)
  return product
}

function priceAt(state: StripeState, id: string): StripePrice {
  const price = state.prices.get(id)
  if (!price) throw noSuch('price', id, 'price', 404)
  return price
}
