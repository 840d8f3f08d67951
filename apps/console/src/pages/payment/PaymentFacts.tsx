// What a payment is, at the chosen moment.
import { Link } from '@tanstack/react-router'
import type { MethodSummary, Payment } from '../../api/apiTypes.ts'
import { CustomerLink } from '../../parts/CustomerLink.tsx'
import { type Fact, Facts } from '../../parts/Facts.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { JsonView } from '../../parts/JsonView.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { SafeLink } from '../../parts/SafeLink.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import type { Payer } from './moneyBack.ts'

const shortLength = 40

export function PaymentFacts({ payment, payer }: { readonly payment: Payment; readonly payer: Payer }) {
  return (
    <Panel title="Facts">
      <div className="stack">
        <Facts facts={[...moneyFacts(payment), ...payerFacts(payment, payer), ...textFacts(payment)]} />
        <Facts facts={providerFacts(payment)} />
        {Object.keys(payment.metadata).length > 0 && (
          <div>
            <h3>Metadata</h3>
            <JsonView label="Metadata" value={payment.metadata} />
          </div>
        )}
      </div>
    </Panel>
  )
}

function moneyFacts(payment: Payment): Fact[] {
  const { currency } = payment
  const amount = (name: string, cents: number): Fact => [name, <Money key={name} cents={cents} currency={currency} />]
  const facts = [amount('Total', payment.total_cents)]
  if (payment.tax_cents > 0) facts.push(amount('Tax', payment.tax_cents))
  if (payment.discount_cents > 0) facts.push(amount('Discount', payment.discount_cents))
  facts.push(amount('Received', payment.amount_received_cents), amount('Refunded', payment.amount_refunded_cents))
  if (payment.amount_capturable_cents > 0) facts.push(amount('Can be captured', payment.amount_capturable_cents))
  return facts
}

function payerFacts(payment: Payment, payer: Payer): Fact[] {
  const owner = <CustomerLink userId={payer.userId} guestEmail={payment.guest_email ?? payer.email} />
  const facts: Fact[] = [['Payer', payer.isErased && payer.userId === null ? 'Erased' : owner]]
  if (payer.isErased && payer.userId !== null) facts.push(['Personal data', 'Erased'])
  if (payer.userId !== null && payer.email !== null) facts.push(['E-mail', payer.email])
  if (payer.name !== null) facts.push(['Name', payer.name])
  if (payer.phone !== null) facts.push(['Phone', payer.phone])
  facts.push(['Method', methodText(payment.payment_method) ?? <Dash />])
  return facts
}

function methodText(method: MethodSummary | null): string | null {
  if (method === null) return null
  const { card_brand, last_four, payment_type, alias } = method
  const number = last_four === null ? '' : `ending in ${last_four}`
  return [alias, card_brand ?? payment_type, number].filter(Boolean).join(' ')
}

function textFacts(payment: Payment): Fact[] {
  const texts: [string, string | null][] = [
    ['Concept', payment.concept],
    ['Description', payment.description],
    ['Reference', payment.reference_code],
    ['Category', payment.category],
    ['Tags', payment.tags],
  ]
  return texts.flatMap(([name, value]) =>
    value === null ? [] : [[name, <LongText key={name} text={value} />] as const],
  )
}

/** Gets a line of its own when it is long. */
function LongText({ text }: { readonly text: string }) {
  return <span className={text.length > shortLength ? 'longText' : undefined}>{text}</span>
}

function providerFacts(payment: Payment): (Fact | false)[] {
  const { provider_intent_id: intent, provider_payment_id: charge, redirect_url: page } = payment
  return [
    ['Provider', payment.provider_id],
    intent !== null && ['Intent', <Identifier key="i" value={intent} name="the intent id" />],
    charge !== null && ['Charge', <Identifier key="c" value={charge} name="the charge id" />],
    ['Capture', payment.capture_method],
    ['Created', <Time key="t" value={payment.created_at} />],
    ['Updated', <Time key="u" value={payment.updated_at} />],
    payment.completed_at !== null && ['Completed', <Time key="d" value={payment.completed_at} />],
    payment.expires_at !== null &&
      payment.status === 'pending' && ['Expires', <Time key="e" value={payment.expires_at} />],
    page !== null && ['Payment page', <SafeLink key="p" url={page} />],
    payment.reference_code !== null && [
      'Same reference',
      <Link key="r" to="/payments" search={{ reference_code: payment.reference_code }}>
        Payments with this reference
      </Link>,
    ],
  ]
}
