// The payment that the start page offers to somebody who tries Paylog, and the page to which its payer returns.
import { randomUUIDv7 } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { amountText } from '@paylog/domain/currency'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { Payment, PaymentStatus } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import { demoConsoleFragment } from '@paylog/identity/sandboxIdentity'
import { html } from '@paylog/runtime/http/pages/html'
import { type Page, sendPage, servePages } from '@paylog/runtime/http/pages/page'
import { firstPaymentPath, type StartPage } from '@paylog/runtime/http/pages/startPage'
import { Type } from 'typebox'
import type { Workflow } from '../context.ts'
import type { PaymentOptions } from '../payments/checkout.ts'
import { draftPayment } from '../payments/draftPayment.ts'
import { initiatePayment } from '../payments/initiatePayment.ts'
import type { IntentBody } from '../payments/intentBody.ts'
import { metadataOf } from '../request/requestContext.ts'

const firstPayment = {
  total_cents: 2200,
  currency: 'EUR',
  provider_id: 'sandbox',
  concept: 'Two tickets',
  guest_data: { email: 'guest@example.com', name: 'Guest Example', phone: '+34600000000' },
} satisfies IntentBody

const notFound = () => new DomainError('not_found', 'This address leads to no payment.')

/** Only with a start page, and the sandbox's page on which the payment is paid. */
export const firstPaymentRoutes =
  (workflow: Workflow, options: PaymentOptions, startPage: StartPage): FastifyPluginAsyncTypebox =>
  async (app) => {
    const hostedPage = workflow.providers.get('sandbox')?.hostedPage
    if (startPage === 'off' || !hostedPage) return
    servePages(app)
    const urlOf = (payment_id: string) => `${hostedPage.origin}${firstPaymentPath}/${payment_id}`

    app.post(firstPaymentPath, { config: { callers: 'anyone' }, schema: { hide: true } }, async (request, reply) => {
      const payment_id = randomUUIDv7()
      const url = urlOf(payment_id)
      const metadata = metadataOf(request)
      const { command } = await draftPayment(
        workflow,
        // Its addresses are our own.
        { ...options, returnUrlOrigins: [] },
        {
          ...{ payment_id, request_id: payment_id, request_fingerprint: null, metadata },
          actor: { kind: 'anonymous' },
          body: { ...firstPayment, return_url: url, cancel_url: url },
          checkBody: () => undefined,
        },
      )
      const { payment, error } = await initiatePayment(workflow, command, { metadata })
      if (error) throw error
      return reply.redirect(payment.redirect_url ?? url, 303)
    })

    app.get(
      `${firstPaymentPath}/:id`,
      {
        config: { callers: 'public' },
        schema: { hide: true, params: Type.Object({ id: Type.String() }) },
      },
      async ({ params }, reply) => {
        const id = recordedId(params.id)
        if (id === null) throw notFound()
        const { state } = await workflow.store.load(paymentStream(id), paymentFold)
        // Of any other payment this shows nothing, whoever knows its id.
        if (state.status === 'none' || state.return_url !== urlOf(id)) throw notFound()
        return sendPage(reply, firstPaymentPage(state, startPage === 'demo' ? demoConsoleFragment : ''))
      },
    )
  }

const looks: Readonly<Record<PaymentStatus, readonly [look: string, text: string, refreshSeconds?: number]>> = {
  pending: ['warn', 'It is not paid yet. This page shows by itself when it is.', 5],
  processing: ['busy', 'It is being processed. This page shows by itself when it has settled.', 2],
  succeeded: ['good', 'It is paid: the sandbox has notified Paylog, and Paylog has recorded it.'],
  failed: ['bad', 'The sandbox declined it. Nothing was charged, and it can be tried again.'],
  canceled: ['', 'It was canceled. Nothing was charged.'],
}

/** @param fragment signs in to the console; empty where the reader does that */
function firstPaymentPage(payment: Payment, fragment: string): Page {
  const { payment_id, status, total_cents, currency, concept, redirect_url } = payment
  const [look, text, refreshSeconds] = looks[status]
  const isOpen = (status === 'pending' || status === 'failed') && redirect_url !== null
  const body = html`<main class="sheet">
<header class="stack">
<h1>Your payment</h1>
<p class="amount">${amountText(total_cents, currency)}</p>
<p class="badge ${look}" role="status">${status}</p>
</header>
<p>${text}</p>
<dl class="facts"><dt>For</dt><dd>${concept}</dd><dt>Id</dt><dd><code>${payment_id}</code></dd></dl>
<nav class="choices">
<a class="button primary" href="/console/payments/${payment_id}${fragment}">See it in the console</a>
${isOpen ? html`<a class="button" href="${redirect_url}">Back to the payment page</a>` : null}
<a class="button" href="/">Start page</a>
</nav>
</main>`
  return { title: `Your payment is ${status} · Paylog`, body, refreshSeconds }
}
