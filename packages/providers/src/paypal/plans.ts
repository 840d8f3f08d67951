// PayPal's billing plans: each recurring product is sold by one active plan of ours.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import type { CatalogPrice, CatalogProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { nullIf } from '../providerApi.ts'
import { noContent, nullIfMissing, type PaypalApi, requestKeyOf } from './client.ts'
import { Money, toCents, toMoney } from './fields.ts'

export type RecurringPrice = CatalogPrice & { readonly recurring: NonNullable<CatalogPrice['recurring']> }

/** PayPal allows one free trial of up to this many days. */
export const maxTrialDays = 365

const units = { day: 'DAY', week: 'WEEK', month: 'MONTH', year: 'YEAR' } as const

const shownCycle = Compile(
  Type.Object({
    tenure_type: Type.String(),
    frequency: Type.Object({ interval_unit: Type.String(), interval_count: Type.Optional(Type.Integer()) }),
    total_cycles: Type.Optional(Type.Integer()),
    pricing_scheme: Type.Optional(
      Type.Object({ fixed_price: Type.Optional(Money), pricing_model: Type.Optional(Type.String()) }),
    ),
  }),
)

/**
 * The billing cycles of a price: the free trial, if any, then the price without end.
 * @throws ProviderError `currency`
 */
export function billingCyclesOf({ amount_cents, currency, recurring: { interval, trial_days } }: RecurringPrice) {
  const price = {
    frequency: { interval_unit: units[interval], interval_count: 1 },
    tenure_type: 'REGULAR',
    total_cycles: 0,
    pricing_scheme: { fixed_price: toMoney(amount_cents, currency) },
  }
  const trial = {
    frequency: { interval_unit: 'DAY', interval_count: trial_days },
    tenure_type: 'TRIAL',
    total_cycles: 1,
    pricing_scheme: { fixed_price: toMoney(0, currency) },
  }
  const cycles = trial_days > 0 ? [trial, price] : [price]
  return cycles.map((cycle, index) => ({ ...cycle, sequence: index + 1 }))
}

/**
 * Whether a plan has this price. Ignores set-up fees and taxes, which only the merchant adds to a plan.
 * @param cycles as PayPal returns them: in any order, with amounts in another format
 */
export function isAtPrice(cycles: readonly unknown[], price: RecurringPrice): boolean {
  const wanted = billingCyclesOf(price).map(termsOf)
  const shown = cycles.map(termsOf)
  return shown.length === wanted.length && wanted.every((terms) => terms !== null && shown.includes(terms))
}

/** A cycle's terms as comparable text; `null` for cycles that we never create, such as price tiers. */
function termsOf(cycle: unknown): string | null {
  if (!shownCycle.Check(cycle)) return null
  const { tenure_type, frequency, total_cycles = 1, pricing_scheme } = cycle
  const { fixed_price, pricing_model } = pricing_scheme ?? {}
  const amount_cents = fixed_price ? toCents(fixed_price) : 0
  if (pricing_model !== undefined || amount_cents === null) return null
  const price = amount_cents === 0 ? 'free' : `${amount_cents} ${fixed_price?.currency_code}`
  return [tenure_type, frequency.interval_unit, frequency.interval_count ?? 1, total_cycles, price].join(' ')
}

const Plan = Type.Object({
  id: Code,
  /** `CREATED`, `ACTIVE`, `INACTIVE`. New subscriptions need an active plan; existing ones keep an inactive plan. */
  status: Type.String(),
  product_id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  create_time: Type.Optional(Type.String()),
  /** May be missing in a list. */
  billing_cycles: Type.Optional(Type.Array(Type.Unknown())),
})
export type Plan = Readonly<Static<typeof Plan>>
const planResponse = Compile(Plan)
const planList = Compile(
  Type.Object({
    plans: Type.Optional(Type.Array(Plan)),
    links: Type.Optional(Type.Array(Type.Object({ rel: Type.Optional(Type.String()) }))),
  }),
)

/** PayPal's maximum. */
const pageSize = 20
/** A product with more pages of plans is an error. */
const maxPages = 50

const isActive = ({ status }: Plan): boolean => status === 'ACTIVE'

/** @returns the plan; repeated with the same key, its current state @throws ProviderError */
export async function createPlan(
  api: PaypalApi,
  { idempotency_key, plan }: { readonly idempotency_key: string; readonly plan: object },
): Promise<Plan> {
  const body = JSON.stringify(plan)
  const key = requestKeyOf(idempotency_key, body)
  return (await api.request(planResponse, { method: 'POST', path: '/v1/billing/plans', key, body })).body
}

/** @returns `null` when there is no such plan @throws ProviderError */
export async function getPlan(api: PaypalApi, planId: string): Promise<Plan | null> {
  const found = await api.request(planResponse, { method: 'GET', path: planPath(planId) }).catch(nullIfMissing)
  return found?.body ?? null
}

/** All plans of a product, the merchant's own included. @throws ProviderError, also when there are too many */
export async function listPlans(api: PaypalApi, productId: string): Promise<readonly Plan[]> {
  const all = new Map<string, Plan>()
  for (let page = 1; page <= maxPages; page++) {
    const query = new URLSearchParams({ product_id: productId, page_size: `${pageSize}`, page: `${page}` })
    // PayPal documents a 404 for lists, but not when it sends one.
    const found = await api
      .request(planList, { method: 'GET', path: `/v1/billing/plans?${query}` })
      .catch(nullIfMissing)
    const { plans = [], links = [] } = found?.body ?? {}
    // Pages shift while plans are created, so a plan may appear on two of them.
    for (const plan of plans) all.set(plan.id, plan)
    if (plans.length < pageSize && !links.some(({ rel }) => rel === 'next')) return [...all.values()]
  }
  throw new ProviderError(
    'rejected',
    'too_many_plans',
    `The product has more than ${maxPages} pages of plans at PayPal`,
  )
}

/** Renames an active plan. Does nothing when the plan is inactive. @throws ProviderError */
export async function renamePlan(api: PaypalApi, planId: string, name: string): Promise<void> {
  const body = JSON.stringify([{ op: 'replace', path: '/name', value: name }])
  await api
    .request(noContent, { method: 'PATCH', path: planPath(planId), body })
    .catch(nullIf(({ code }) => code === 'plan_status_inactive'))
}

/** Stops new subscriptions to a plan. Existing ones continue. @throws ProviderError */
export const deactivatePlan = (api: PaypalApi, planId: string) => setPlanStatus(api, planId, 'deactivate')

/** Allows new subscriptions to a deactivated plan again. @throws ProviderError */
export const activatePlan = (api: PaypalApi, planId: string) => setPlanStatus(api, planId, 'activate')

/** Needs no key: PayPal rejects a repetition with `PLAN_STATUS_INVALID`, which counts as success. */
async function setPlanStatus(api: PaypalApi, planId: string, action: 'activate' | 'deactivate'): Promise<void> {
  await api
    .request(noContent, { method: 'POST', path: `${planPath(planId)}/${action}` })
    .catch(nullIf(({ code }) => code === 'plan_status_invalid'))
}

const planPath = (planId: string) => `/v1/billing/plans/${encodeURIComponent(planId)}`

/** Enough for parallel calls with the same price. Only a parallel call with another price needs more. */
const maxRounds = 5

/**
 * The description that marks our plans, as opposed to those that the merchant creates by hand. A plan has no other free
 * field, and PayPal forgets keys, so only this identifies a plan whose create response was lost. Payers may see it.
 */
const planMarkerOf = (productId: string) => `Product ${productId}`

/** `knownId`: the plan that an earlier call returned. */
type PlanOfProduct = { readonly product_id: string; readonly knownId: string | null }

/**
 * Makes one plan with the product's price the only active plan of ours. A new price gets a new plan, because changing a
 * plan's price (`update-pricing-schemes`) would change it for existing subscribers. A former price reuses its plan.
 *
 * Of several plans with the price the oldest stays, so that parallel calls choose the same one. After creating a plan
 * we list again, because another call may have created one meanwhile.
 * @returns the plan's id
 * @throws ProviderError
 */
export async function putPlan(
  api: PaypalApi,
  request: {
    readonly idempotency_key: string
    readonly product: CatalogProduct & { readonly price: RecurringPrice }
    readonly knownId: string | null
  },
): Promise<string> {
  const { product, knownId, idempotency_key } = request
  const { product_id, name, price } = product
  const known = new Set(knownId === null ? [] : [knownId])
  let created: Plan | null = null
  for (let round = 1; round <= maxRounds; round++) {
    const ours = await ourPlans(api, product_id, { known, created })
    const matching = ours.filter(({ billing_cycles = [] }) => isAtPrice(billing_cycles, price))
    const kept = matching.find(isActive)
    if (kept) {
      await deactivateAll(
        api,
        ours.filter(({ id }) => id !== kept.id),
      )
      if (kept.name !== name) await renamePlan(api, kept.id, name)
      return kept.id
    }
    const [former] = matching
    created = former ? null : await createPlan(api, { idempotency_key, plan: newPlan(product) })
    if (former) await activatePlan(api, former.id)
    // The list may not show the change yet.
    for (const plan of [former, created]) if (plan) known.add(plan.id)
  }
  throw new ProviderError('unknown', 'plan_contended', 'Different prices are being set for the product at PayPal')
}

/** Deactivates all our plans of the product. @throws ProviderError */
export async function withdrawPlans(api: PaypalApi, { product_id, knownId }: PlanOfProduct): Promise<void> {
  const known = new Set(knownId === null ? [] : [knownId])
  await deactivateAll(api, await ourPlans(api, product_id, { known, created: null }))
}

/** Keeps the known plan and updates only its name. @returns its id, or `null` when it is gone @throws ProviderError */
export async function keepPlan(
  api: PaypalApi,
  { product_id, knownId, name }: PlanOfProduct & { readonly name: string },
): Promise<string | null> {
  const plan = knownId === null ? null : await planOf(api, product_id, knownId)
  if (plan && isActive(plan) && plan.name !== name) await renamePlan(api, plan.id, name)
  return plan?.id ?? null
}

async function deactivateAll(api: PaypalApi, plans: readonly Plan[]): Promise<void> {
  for (const plan of plans) if (isActive(plan)) await deactivatePlan(api, plan.id)
}

/**
 * Our plans of a product with all fields, oldest first.
 * @param options `known`: plans that are ours with any description; each is fetched, except the one just `created`
 */
async function ourPlans(
  api: PaypalApi,
  productId: string,
  { known, created }: { readonly known: ReadonlySet<string>; readonly created: Plan | null },
): Promise<Plan[]> {
  const listed = await listPlans(api, productId)
  const marked = listed.filter(({ id, description }) => !known.has(id) && description === planMarkerOf(productId))
  const ours: Plan[] = []
  for (const id of [...known, ...marked.map((plan) => plan.id)]) {
    const shown = created?.id === id ? created : marked.find((plan) => plan.id === id)
    const plan = shown?.billing_cycles ? shown : await planOf(api, productId, id)
    if (plan) ours.push(plan)
  }
  return ours.toSorted((one, other) => (ageKey(one) < ageKey(other) ? -1 : 1))
}

/** Adds the id, because PayPal's times are in seconds and several plans may share one. */
const ageKey = ({ create_time = '', id }: Plan) => `${create_time} ${id}`

/** @returns `null` when it does not exist, or belongs to another product */
async function planOf(api: PaypalApi, productId: string, planId: string): Promise<Plan | null> {
  const plan = await getPlan(api, planId)
  return plan?.product_id === undefined || plan.product_id === productId ? plan : null
}

function newPlan({ product_id, name, price }: CatalogProduct & { readonly price: RecurringPrice }) {
  return {
    product_id,
    name,
    description: planMarkerOf(product_id),
    status: 'ACTIVE',
    billing_cycles: billingCyclesOf(price),
    // Required; this is PayPal's default.
    payment_preferences: { auto_bill_outstanding: true },
  }
}
