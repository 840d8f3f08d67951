// What the sandbox's page shows: the payment and what its payer may do, or what has become of it.
import { amountText } from '@paylog/domain/currency'
import type { Payment } from '@paylog/domain/payments/payment'
import type { PageState } from '@paylog/providers/hostedPage'
import { type Html, html } from '@paylog/runtime/http/pages/html'
import type { Page } from '@paylog/runtime/http/pages/page'

/** A payment on its page. */
export type Opened = {
  readonly state: PageState
  readonly payment: Payment
  /** The path of the page. */
  readonly path: string
}

/** After which the page of a payment that does not stay as it is loads itself again. */
const refreshSeconds = 2

/** The payment, and what its payer may do or what has become of it. */
export function paymentPage(opened: Opened): Page {
  const { state } = opened
  return state.is_payable ? payablePage(opened) : outcomePage(opened)
}

function payablePage(opened: Opened): Page {
  const { state } = opened
  const amount = amountOf(state)
  const declined = html`<p class="note warn" role="status">The last attempt was declined, and nothing was charged. You can try again.</p>`
  return sheet(opened, `Pay ${amount}`, [
    heading(opened, 'Pay'),
    state.status === 'failed' ? declined : null,
    facts(opened),
    form(opened, [
      choice('pay', 'Pay', payHint(opened), 'primary'),
      choice('ask', 'Ask me first', 'A second page asks you to approve, as a bank does.'),
      choice('later', 'Pay later', 'It is processed, and settles after ten seconds.'),
      choice('decline', 'Decline', 'The card is declined. The payment fails, and can be tried again.'),
      choice('cancel', 'Cancel', 'You leave without paying. The payment stays open.'),
    ]),
  ])
}

function payHint({ state, payment }: Opened): string {
  if (state.asks_first) return 'This card asks you to approve first.'
  return payment.capture_method === 'manual' ? 'The amount is reserved, and captured later.' : 'The payment succeeds.'
}

/** The second page, which asks the payer to approve, as in 3-D Secure. */
export function approvalPage(opened: Opened): Page {
  const { state, path } = opened
  return sheet(opened, 'Do you approve this payment?', [
    heading(opened, 'Do you approve this payment?'),
    html`<p>This page stands for the one on which a bank asks its customer.</p>`,
    facts(opened),
    form(opened, [
      choice('approve', 'Approve', `${amountOf(state)} is paid.`, 'primary'),
      choice('decline', 'Decline', 'The payment fails, and can be tried again.'),
    ]),
    html`<p><a href="${path}">Back</a></p>`,
  ])
}

/** For a payer who does not pay, where the payment has no address for that. */
export function leftPage(opened: Opened): Page {
  return sheet(opened, 'You did not pay', [
    heading(opened, 'You did not pay'),
    html`<p role="status">Nothing was charged. The payment is still open.</p>`,
    facts(opened),
    html`<a class="button" href="${opened.path}">Back to the payment</a>`,
  ])
}

function outcomePage(opened: Opened): Page {
  const { title, text, isPassing = false } = outcomeOf(opened)
  const { return_url } = opened.payment
  const page = sheet(opened, title, [
    heading(opened, title),
    html`<p role="status">${text}</p>`,
    facts(opened),
    return_url === null ? null : html`<a class="button" href="${return_url}">Continue to ${hostOf(return_url)}</a>`,
  ])
  return isPassing ? { ...page, refreshSeconds } : page
}

type Outcome = { readonly title: string; readonly text: string; readonly isPassing?: boolean }

function outcomeOf({ state, payment }: Opened): Outcome {
  const { status, currency, capturable_cents, received_cents, refunded_cents } = state
  const shown = (cents: number) => amountText(cents, currency)
  if (status === 'succeeded') {
    const paid = `${shown(received_cents)} was paid.`
    if (refunded_cents === 0) return { title: 'Paid', text: `${paid} There is nothing more to do.` }
    const isWhole = refunded_cents >= received_cents
    return { title: 'Refunded', text: `${paid} ${isWhole ? 'All' : shown(refunded_cents)} of it was given back.` }
  }
  if (status === 'canceled') {
    const { expires_at, completed_at } = payment
    const isExpired = expires_at !== null && completed_at !== null && expires_at <= completed_at
    return isExpired
      ? { title: 'Expired', text: `Nobody paid before ${timeText(expires_at)}. Nothing was charged.` }
      : { title: 'Canceled', text: 'This payment was canceled, and can no longer be paid. Nothing was charged.' }
  }
  if (capturable_cents > 0)
    return {
      title: 'Reserved',
      text: `${shown(capturable_cents)} is reserved. The payee captures it later, or releases it.`,
    }
  const text = 'The payment is being processed. This page shows by itself when it has settled.'
  return { title: 'Processing', text, isPassing: true }
}

const amountOf = ({ amount_cents, currency }: PageState) => amountText(amount_cents, currency)

const hostOf = (url: string) => new URL(url).host

/** Without seconds: `31 January 2026 at 12:00 UTC`. */
const timeText = (time: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(time)) +
  ' UTC'

const heading = ({ state }: Opened, title: string) => html`<header class="stack">
<h1>${title}</h1>
<p class="amount">${amountOf(state)}</p>
</header>`

/** Texts of clients keep their direction to themselves. */
function facts({ payment, state }: Opened): Html {
  const { statement_descriptor, return_url, cancel_url, concept, description, reference_code, expires_at } = payment
  const url = return_url ?? cancel_url
  const rows = [
    ['Payee', statement_descriptor ?? (url === null ? null : hostOf(url))],
    ['For', concept],
    ['Description', description],
    ['Reference', reference_code],
    ['Open until', state.is_payable && expires_at !== null ? timeText(expires_at) : null],
  ] as const
  const known = rows.filter(([, text]) => text !== null && text !== '')
  return html`<dl class="facts">${known.map(([name, text]) => html`<dt>${name}</dt><dd><bdi>${text}</bdi></dd>`)}</dl>`
}

const form = (
  { path, state }: Opened,
  choices: readonly Html[],
) => html`<form class="choices" method="post" action="${path}">
<input type="hidden" name="seen" value="${state.version}">
${choices}
</form>`

const choice = (action: string, name: string, hint: string, look = 'plain') =>
  html`<div class="choice"><button class="${look}" name="action" value="${action}" aria-describedby="about-${action}">${name}</button>
<small id="about-${action}">${hint}</small></div>
`

/** Its forms lead to where the payment's own addresses are, and nowhere else. */
function sheet({ payment }: Opened, title: string, parts: readonly (Html | null)[]): Page {
  const urls = [payment.return_url, payment.cancel_url].filter((url) => url !== null)
  const body = html`<main class="sheet">
<p class="note"><b>Sandbox.</b> This is a test: no money moves, whatever you choose.</p>
${parts}
</main>`
  return { title: `${title} · Paylog sandbox`, body, formOrigins: urls.map((url) => new URL(url).origin) }
}
