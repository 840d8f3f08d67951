// Billing plans: what PayPal charges again and again, and how much. A plan belongs to a product of the catalogue.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type HttpResponse, readResponse } from '../http.ts'
import { ProviderError } from '../provider.ts'
import type { PaypalClient } from './client.ts'
import { rejectionError } from './refusals.ts'
import { requestKeyOf } from './requestKeys.ts'

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

export const isActive = ({ status }: Plan): boolean => status === 'ACTIVE'

/** @returns the plan; the same key gets the one that it made, as it is now @throws ProviderError */
export async function createPlan(
  client: PaypalClient,
  { idempotency_key, plan }: { readonly idempotency_key: string; readonly plan: object },
): Promise<Plan> {
  const body = JSON.stringify(plan)
  const call = { method: 'POST', path: '/v1/billing/plans', key: requestKeyOf(idempotency_key, body), body } as const
  const created = await client.call(call, readPlan)
  if (created.refusal) throw rejectionError(created.refusal)
  return created.value
}

/** @returns `null` when there is no such plan @throws ProviderError */
export async function getPlan(client: PaypalClient, planId: string): Promise<Plan | null> {
  const found = await client.call({ method: 'GET', path: planPath(planId) }, readPlan)
  if (!found.refusal) return found.value
  if (found.refusal.status === 404) return null
  throw rejectionError(found.refusal)
}

/** All plans of a product, whoever made them. @throws ProviderError also when there are too many */
export async function listPlans(client: PaypalClient, productId: string): Promise<readonly Plan[]> {
  const all = new Map<string, Plan>()
  for (let page = 1; page <= maxPages; page++) {
    const query = new URLSearchParams({ product_id: productId, page_size: `${pageSize}`, page: `${page}` })
    const found = await client.call({ method: 'GET', path: `/v1/billing/plans?${query}` }, readPlans)
    // PayPal documents that there may be nothing to be found, and not when.
    if (found.refusal?.status === 404) return [...all.values()]
    if (found.refusal) throw rejectionError(found.refusal)
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
  const { refusal: rejection } = await client.call({ method: 'PATCH', path: planPath(planId), body }, () => undefined)
  if (rejection && rejection.issue !== 'PLAN_STATUS_INACTIVE') throw rejectionError(rejection)
}

/** Lets nobody subscribe to a plan any more; those who have go on being charged. @throws ProviderError */
export const deactivatePlan = (client: PaypalClient, planId: string) => setPlanStatus(client, planId, 'deactivate')

/** Lets a plan that was deactivated be subscribed to again. @throws ProviderError */
export const activatePlan = (client: PaypalClient, planId: string) => setPlanStatus(client, planId, 'activate')

/** There is nothing to be made twice, so there is no key: what was turned already is refused, and that is as good. */
async function setPlanStatus(client: PaypalClient, planId: string, turn: 'activate' | 'deactivate'): Promise<void> {
  const { refusal: rejection } = await client.call(
    { method: 'POST', path: `${planPath(planId)}/${turn}` },
    () => undefined,
  )
  if (rejection && rejection.issue !== 'PLAN_STATUS_INVALID') throw rejectionError(rejection)
}

const readPlan = (answer: HttpResponse): Plan => readResponse(plan, answer)
const readPlans = (answer: HttpResponse) => readResponse(planList, answer)

const planPath = (planId: string) => `/v1/billing/plans/${encodeURIComponent(planId)}`
