// The price of a recurring product as the billing cycles of a plan.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type HttpResponse, readResponse } from '../http.ts'
import type { CatalogPrice, CatalogProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { type PaypalClient, rejectionError, requestKeyOf } from './client.ts'
import { Money, toCents, toMoney } from './fields.ts'

export type RecurringPrice = CatalogPrice & { readonly recurring: NonNullable<CatalogPrice['recurring']> }

/** PayPal allows one free trial, and this many days for one cycle of it. */
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
 * What PayPal is told: first the free trial, if there is one, then the price, for ever.
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
 * Whether a plan is sold at a price. Set-up fees and taxes are not looked at: only the merchant adds them to a plan.
 * @param cycles as PayPal shows them, in any order, and with the amounts in another spelling
 */
export function isAtPrice(cycles: readonly unknown[], price: RecurringPrice): boolean {
  const wanted = billingCyclesOf(price).map(termsOf)
  const shown = cycles.map(termsOf)
  return shown.length === wanted.length && wanted.every((terms) => terms !== null && shown.includes(terms))
}

/** What a subscriber pays in a cycle, so that it can be compared; `null` for what is not ours: price tiers and the like. */
function termsOf(cycle: unknown): string | null {
  if (!shownCycle.Check(cycle)) return null
  const { tenure_type, frequency, total_cycles = 1, pricing_scheme } = cycle
  const { fixed_price, pricing_model } = pricing_scheme ?? {}
  const amount_cents = fixed_price ? toCents(fixed_price) : 0
  if (pricing_model !== undefined || amount_cents === null) return null
  const price = amount_cents === 0 ? 'free' : `${amount_cents} ${fixed_price?.currency_code}`
  return [tenure_type, frequency.interval_unit, frequency.interval_count ?? 1, total_cycles, price].join(' ')
}

// Billing plans: what PayPal charges again and again, and how much. A plan belongs to a product of the catalogue.

const Plan = Type.Object({
  id: Code,
  /** `CREATED`, `ACTIVE`, `INACTIVE`. Only an active one can be subscribed to; its subscribers keep one that is not. */
  status: Type.String(),
  product_id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  create_time: Type.Optional(Type.String()),
  /** A list may leave them out. */
  billing_cycles: Type.Optional(Type.Array(Type.Unknown())),
})
export type Plan = Readonly<Static<typeof Plan>>
const plan = Compile(Plan)
const planList = Compile(
  Type.Object({
    plans: Type.Optional(Type.Array(Plan)),
    links: Type.Optional(Type.Array(Type.Object({ rel: Type.Optional(Type.String()) }))),
  }),
)

/** The most that PayPal gives. */
const pageSize = 20
/** A product with more plans than fit in these is not looked through. */
const maxPages = 50

const isActive = ({ status }: Plan): boolean => status === 'ACTIVE'

/** @returns the plan; the same key gets the one that it made, as it is now @throws ProviderError */
export async function createPlan(
  client: PaypalClient,
  { idempotency_key, plan }: { readonly idempotency_key: string; readonly plan: object },
): Promise<Plan> {
  const body = JSON.stringify(plan)
  const call = { method: 'POST', path: '/v1/billing/plans', key: requestKeyOf(idempotency_key, body), body } as const
  const created = await client.call(call, readPlan)
  if (created.rejection) throw rejectionError(created.rejection)
  return created.value
}

/** @returns `null` when there is no such plan @throws ProviderError */
export async function getPlan(client: PaypalClient, planId: string): Promise<Plan | null> {
  const found = await client.call({ method: 'GET', path: planPath(planId) }, readPlan)
  if (!found.rejection) return found.value
  if (found.rejection.status === 404) return null
  throw rejectionError(found.rejection)
}

/** All plans of a product, whoever made them. @throws ProviderError also when there are too many */
export async function listPlans(client: PaypalClient, productId: string): Promise<readonly Plan[]> {
  const all = new Map<string, Plan>()
  for (let page = 1; page <= maxPages; page++) {
    const query = new URLSearchParams({ product_id: productId, page_size: `${pageSize}`, page: `${page}` })
    const found = await client.call({ method: 'GET', path: `/v1/billing/plans?${query}` }, readPlans)
    // PayPal documents that there may be nothing to be found, and not when.
    if (found.rejection?.status === 404) return [...all.values()]
    if (found.rejection) throw rejectionError(found.rejection)
    const { plans = [], links = [] } = found.value
    // While plans are made the pages shift, and a plan may be on two of them.
    for (const one of plans) all.set(one.id, one)
    if (plans.length < pageSize && !links.some(({ rel }) => rel === 'next')) return [...all.values()]
  }
  throw new ProviderError(
    'rejected',
    'too_many_plans',
    `The product has more than ${maxPages} pages of plans at PayPal`,
  )
}

/** Gives an active plan another name. One that is active no more keeps its name. @throws ProviderError */
export async function renamePlan(client: PaypalClient, planId: string, name: string): Promise<void> {
  const body = JSON.stringify([{ op: 'replace', path: '/name', value: name }])
  const { rejection } = await client.call({ method: 'PATCH', path: planPath(planId), body }, () => undefined)
  if (rejection && rejection.issue !== 'PLAN_STATUS_INACTIVE') throw rejectionError(rejection)
}

/** Lets nobody subscribe to a plan any more; those who have go on being charged. @throws ProviderError */
export const deactivatePlan = (client: PaypalClient, planId: string) => setPlanStatus(client, planId, 'deactivate')

/** Lets a plan that was deactivated be subscribed to again. @throws ProviderError */
export const activatePlan = (client: PaypalClient, planId: string) => setPlanStatus(client, planId, 'activate')

/** There is nothing to be made twice, so there is no key: what was turned already is refused, and that is as good. */
async function setPlanStatus(client: PaypalClient, planId: string, turn: 'activate' | 'deactivate'): Promise<void> {
  const { rejection } = await client.call({ method: 'POST', path: `${planPath(planId)}/${turn}` }, () => undefined)
  if (rejection && rejection.issue !== 'PLAN_STATUS_INVALID') throw rejectionError(rejection)
}

const readPlan = (answer: HttpResponse): Plan => readResponse(plan, answer)
const readPlans = (answer: HttpResponse) => readResponse(planList, answer)

const planPath = (planId: string) => `/v1/billing/plans/${encodeURIComponent(planId)}`

// The plan that a recurring product of ours is sold by.

/** More looks than it takes while several bring the same product; only somebody with another price makes for more. */
const maxRounds = 5

/**
 * The description of our plans, by which they are told from those that the merchant makes by hand on the same product. A
 * plan has no other field that is free to use, and PayPal forgets keys: after that only this tells whose a plan is whose
 * id we were never told. Payers may see it.
 */
const planMarkerOf = (productId: string) => `Product ${productId}`

/** Which product, and the plan that an earlier call has answered. */
type PlanOfProduct = { readonly product_id: string; readonly knownId: string | null }

/**
 * Sees to it that the product can be subscribed to at its price, by one plan of ours and no other. A plan whose price was
 * changed in place (`update-pricing-schemes`) would change it for its subscribers too, so that another price is another
 * plan. A price that comes back finds its plan, and those who have it share it with new subscribers.
 *
 * Of plans with the same price the oldest one stays, so that all who look choose the same; and whoever has made one looks
 * again, because another may have been made meanwhile.
 * @returns the plan's id
 * @throws ProviderError
 */
export async function putPlan(
  client: PaypalClient,
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
    const ours = await ourPlans(client, product_id, { known, made: created })
    const fitting = ours.filter(({ billing_cycles = [] }) => isAtPrice(billing_cycles, price))
    const kept = fitting.find(isActive)
    if (kept) {
      await deactivateAll(
        client,
        ours.filter(({ id }) => id !== kept.id),
      )
      if (kept.name !== name) await renamePlan(client, kept.id, name)
      return kept.id
    }
    const [former] = fitting
    created = former ? null : await createPlan(client, { idempotency_key, plan: newPlan(product) })
    if (former) await activatePlan(client, former.id)
    // The list may be behind what was just made.
    for (const provided of [former, created]) if (provided) known.add(provided.id)
  }
  throw new ProviderError('unknown', 'plan_contended', 'PayPal is being told different prices of the product')
}

/** Lets nobody subscribe to the product any more. @throws ProviderError */
export async function withdrawPlans(client: PaypalClient, { product_id, knownId }: PlanOfProduct): Promise<void> {
  const known = new Set(knownId === null ? [] : [knownId])
  await deactivateAll(client, await ourPlans(client, product_id, { known, made: null }))
}

/** Leaves the plan as it is, but for its name. @returns its id, or `null` when it is gone @throws ProviderError */
export async function keepPlan(
  client: PaypalClient,
  { product_id, knownId, name }: PlanOfProduct & { readonly name: string },
): Promise<string | null> {
  const plan = knownId === null ? null : await planOf(client, product_id, knownId)
  if (plan && isActive(plan) && plan.name !== name) await renamePlan(client, plan.id, name)
  return plan?.id ?? null
}

async function deactivateAll(client: PaypalClient, plans: readonly Plan[]): Promise<void> {
  for (const plan of plans) if (isActive(plan)) await deactivatePlan(client, plan.id)
}

/**
 * Our plans of a product, whole, the oldest one first.
 * @param options `known` ones are ours whatever their description says by now, and PayPal is asked for each, but for the one
 *   that it has just `made`
 */
async function ourPlans(
  client: PaypalClient,
  productId: string,
  { known, made }: { readonly known: ReadonlySet<string>; readonly made: Plan | null },
): Promise<Plan[]> {
  const listed = await listPlans(client, productId)
  const marked = listed.filter(({ id, description }) => !known.has(id) && description === planMarkerOf(productId))
  const ours: Plan[] = []
  for (const id of [...known, ...marked.map((plan) => plan.id)]) {
    const shown = made?.id === id ? made : marked.find((plan) => plan.id === id)
    const plan = shown?.billing_cycles ? shown : await planOf(client, productId, id)
    if (plan) ours.push(plan)
  }
  return ours.toSorted((one, other) => (ageKey(one) < ageKey(other) ? -1 : 1))
}

/** PayPal tells times in seconds, which several plans may share. */
const ageKey = ({ create_time = '', id }: Plan) => `${create_time} ${id}`

/** @returns `null` when it is not there, or another product's */
async function planOf(client: PaypalClient, productId: string, planId: string): Promise<Plan | null> {
  const plan = await getPlan(client, planId)
  return plan?.product_id === undefined || plan.product_id === productId ? plan : null
}

function newPlan({ product_id, name, price }: CatalogProduct & { readonly price: RecurringPrice }) {
  return {
    product_id,
    name,
    description: planMarkerOf(product_id),
    status: 'ACTIVE',
    billing_cycles: billingCyclesOf(price),
    // Required, and what PayPal does when it says nothing more.
    payment_preferences: { auto_bill_outstanding: true },
  }
}
