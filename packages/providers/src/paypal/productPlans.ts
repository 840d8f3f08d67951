// The plan that a recurring product of ours is sold by.

import type { CatalogProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import type { PaypalClient } from './client.ts'
import { billingCyclesOf, isAtPrice, type RecurringPrice } from './planPrice.ts'
import {
  activatePlan,
  createPlan,
  deactivatePlan,
  getPlan,
  isActive,
  listPlans,
  type Plan,
  renamePlan,
} from './plans.ts'

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
