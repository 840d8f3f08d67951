// The sandbox's page, where a payer decides in a browser. The address is the credential.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { paymentFold } from '@paylog/domain/payments/fold'
import { paymentStream } from '@paylog/event-store/streamName'
import type { HostedPage, PageState, PayerDecision } from '@paylog/providers/hostedPage'
import { ProviderError } from '@paylog/providers/provider'
import { sandboxPagePath } from '@paylog/providers/sandbox/plugin'
import { sendPage, servePages } from '@paylog/runtime/http/pages/page'
import { Type } from 'typebox'
import type { Workflow } from '../context.ts'
import { toDomainError } from '../provider-calls/providerErrors.ts'
import { deliverNotifications } from './sandboxDelivery.ts'
import { approvalPage, leftPage, type Opened, paymentPage } from './sandboxPages.ts'

const path = `${sandboxPagePath}/:intent/:key`
const Params = Type.Object({ intent: Type.String(), key: Type.String() })
type Params = { readonly intent: string; readonly key: string }

const Form = Type.Object({
  action: Type.Enum(['pay', 'ask', 'approve', 'later', 'decline', 'cancel']),
  /** The version of the payment that the payer has seen. */
  seen: Type.Optional(Type.String({ maxLength: 40 })),
})

/** What the payer decides by a button; the others only lead to another page. */
const decisions: ReadonlyMap<string, PayerDecision> = new Map([
  ['pay', 'pay'],
  ['approve', 'pay'],
  ['later', 'later'],
  ['decline', 'decline'],
])

export const sandboxPageRoutes =
  (workflow: Workflow): FastifyPluginAsyncTypebox =>
  async (app) => {
    const hostedPage = workflow.providers.get('sandbox')?.hostedPage
    if (!hostedPage) return
    servePages(app)
    const deliver = deliverNotifications(app, hostedPage)
    /** Before the form is read, and without a query. @throws DomainError `not_found` */
    const requireAddress = async ({ params: { intent, key } }: { readonly params: Params }) => {
      if (!hostedPage.isAddress(intent, key)) throw unknownAddress()
    }
    const open = ({ intent, key }: Params): Promise<Opened> =>
      openPage(workflow, hostedPage, intent, `${sandboxPagePath}/${intent}/${key}`)
    const read = {
      config: { callers: 'public' },
      schema: { hide: true, params: Params },
      onRequest: requireAddress,
    } as const

    app.get(path, read, async ({ params }, reply) => sendPage(reply, paymentPage(await open(params))))
    for (const [name, shown] of [
      ['confirm', approvalPage],
      ['left', leftPage],
    ] as const)
      app.get(`${path}/${name}`, read, async ({ params }, reply) => {
        const opened = await open(params)
        return sendPage(reply, opened.state.is_payable ? shown(opened) : paymentPage(opened))
      })

    app.post(
      path,
      // Counted as a payment that is started without a credential.
      { config: { callers: 'anyone' }, schema: { hide: true, params: Params, body: Form }, onRequest: requireAddress },
      async ({ params, body: { action, seen = '' } }, reply) => {
        const { state, payment, path } = await open(params)
        const decision = decisions.get(action)
        if (!state.is_payable && decision === undefined) return reply.redirect(path, 303)
        const { return_url, cancel_url } = payment
        if (action === 'cancel') return reply.redirect(cancel_url === null ? `${path}/left` : headerOf(cancel_url), 303)
        if (decision === undefined || (action === 'pay' && state.asks_first))
          return reply.redirect(`${path}/confirm`, 303)
        const isManual = payment.capture_method === 'manual'
        const after = await hostedPage.decide(params.intent, { decision, seen, isManual }).catch(explain)
        await deliver()
        // Another click may have come before, and may have decided otherwise: then the page says so.
        const isDone = after && isAsDecided(after, decision) && return_url !== null
        return reply.redirect(isDone ? headerOf(return_url) : path, 303)
      },
    )
  }

/** Whether this is what the payer wanted, by this click or an earlier one. */
function isAsDecided({ status, refunded_cents }: PageState, decision: PayerDecision): boolean {
  if (decision === 'decline') return status === 'failed'
  return status === 'processing' || (status === 'succeeded' && refunded_cents === 0)
}

/** In ASCII, as a header needs it. */
const headerOf = (url: string) => new URL(url).href

const unknownAddress = () =>
  new DomainError('not_found', 'This address leads to no payment. Go back to the shop and try again.')

/**
 * The payment as the provider knows it, with what only we know of it.
 * @throws DomainError `not_found`, also when another intent has replaced this one; `event_store_unavailable`, `provider_outcome_unknown`
 */
async function openPage(workflow: Workflow, page: HostedPage, intent: string, path: string): Promise<Opened> {
  const state = await page.read(intent).catch(explain)
  if (!state) throw unknownAddress()
  const { state: payment } = await workflow.store.load(paymentStream(state.payment_id), paymentFold)
  if (payment.status === 'none' || payment.provider_intent_id !== intent) throw unknownAddress()
  return { state, payment, path }
}

function explain(error: unknown): never {
  throw error instanceof ProviderError ? toDomainError(error) : error
}
