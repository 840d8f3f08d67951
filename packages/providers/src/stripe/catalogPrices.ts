// The prices of a product at Stripe. https://docs.stripe.com/api/prices
import Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkResponse } from '../answers.ts'
import { Code } from '../fields.ts'
import type { CatalogPrice } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import type { StripeApi } from './api.ts'
import { CurrencyCode, Maybe } from './fields.ts'

const Price = Type.Object({
  id: Code,
  currency: CurrencyCode,
  unit_amount: Maybe(Type.Number()),
  recurring: Maybe(
    Type.Object({
      interval: Type.String(),
      interval_count: Type.Number(),
      trial_period_days: Maybe(Type.Number()),
    }),
  ),
  metadata: Maybe(Type.Record(Type.String(), Type.String())),
})
type Price = Type.Static<typeof Price>
const created = Compile(Type.Object({ id: Code }))
const page = Compile(Type.Object({ data: Type.Array(Price), has_more: Type.Boolean() }))

/** Stripe's longest page. */
const pageSize = 100
/** Of a merchant who has that many active prices of one product, the oldest ones are not looked at. */
const maxPages = 20

export type WantedPrice = Pick<CatalogPrice, 'currency' | 'recurring'> & {
  readonly unit_amount: number
  readonly product_id: string
}

/** @returns the active prices of ours that a product has, newest first. Those that the merchant has made are left alone */
export async function listPrices(
  call: StripeApi['call'],
  { product, product_id }: { readonly product: string; readonly product_id: string },
): Promise<readonly Price[]> {
  const ours: Price[] = []
  let last: Price | undefined
  for (let pages = 0; pages < maxPages; pages++) {
    const from = last ? { starting_after: last.id } : {}
    const { data, has_more } = await call(async (stripe, timeLeft) =>
      checkResponse(page, await stripe.prices.list({ product, active: true, limit: pageSize, ...from }, timeLeft())),
    )
    ours.push(...data.filter(({ metadata }) => metadata?.product_id === product_id))
    last = data.at(-1)
    if (!has_more || !last) break
  }
  return ours
}

export function isPriceOf({ unit_amount, currency, recurring }: Price, wanted: WantedPrice): boolean {
  if (unit_amount !== wanted.unit_amount || currency.toUpperCase() !== wanted.currency) return false
  if (!recurring || !wanted.recurring) return !recurring && !wanted.recurring
  const { interval, interval_count, trial_period_days } = recurring
  const trial_days = trial_period_days ?? 0
  return interval === wanted.recurring.interval && interval_count === 1 && trial_days === wanted.recurring.trial_days
}

/**
 * @returns `null` when Stripe only repeats what it said to this key before. The price may have been archived since, or
 *   deleted with its product, or it was refused for what is no longer so
 */
export function createPrice(
  call: StripeApi['call'],
  { product, wanted, idempotencyKey }: PriceToCreate,
): Promise<string | null> {
  const { unit_amount, product_id } = wanted
  const params = {
    product,
    unit_amount,
    currency: wanted.currency.toLowerCase(),
    ...(wanted.recurring ? { recurring: recurringOf(wanted.recurring) } : {}),
    metadata: { product_id },
  }
  return call(async (stripe, timeLeft) => {
    try {
      const response = await stripe.prices.create(params, { ...timeLeft(), idempotencyKey })
      const { id } = checkResponse(created, response)
      return isReplayed(response.lastResponse.headers) ? null : id
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError && isReplayed(error.headers)) return null
      throw error
    }
  })
}

type PriceToCreate = { readonly product: string; readonly wanted: WantedPrice; readonly idempotencyKey: string }

/**
 * The trial is a default: a subscription has to ask for it (`trial_from_plan`), and Checkout takes its own. No trial is
 * none at all, for Stripe takes no 0.
 */
function recurringOf({ interval, trial_days }: NonNullable<CatalogPrice['recurring']>) {
  return { interval, ...(trial_days > 0 ? { trial_period_days: trial_days } : {}) }
}

function isReplayed(headers: Readonly<Record<string, string>> = {}): boolean {
  return headers['idempotent-replayed'] === 'true'
}

/** Makes a price the one to be sold at, and archives the others. @returns the refusal, if Stripe refused something of it */
export async function makeDefaultPrice(
  call: StripeApi['call'],
  { product: { id, default_price }, priceId, others }: DefaultPriceChange,
): Promise<ProviderError | null> {
  try {
    if (default_price !== priceId)
      await call(async (stripe, timeLeft) =>
        checkResponse(created, await stripe.products.update(id, { default_price: priceId }, timeLeft())),
      )
    for (const other of others)
      await call(async (stripe, timeLeft) =>
        checkResponse(created, await stripe.prices.update(other, { active: false }, timeLeft())),
      )
    return null
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'rejected') return error
    throw error
  }
}

type DefaultPriceChange = {
  readonly product: { readonly id: string; readonly default_price: string | null }
  readonly priceId: string
  readonly others: readonly string[]
}
