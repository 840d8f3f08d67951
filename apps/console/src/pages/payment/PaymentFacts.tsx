// What a payment is, at the chosen moment.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MethodSummary, Payment } from '../../api/apiTypes.ts'
import { CustomerLink } from '../../parts/CustomerLink.tsx'
import { type Fact, Facts } from '../../parts/Facts.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { JsonView } from '../../parts/JsonView.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { SafeLink } from '../../parts/SafeLink.tsx'
import { Time } from '../../parts/Time.tsx'
import type { Payer } from './moneyBack.ts'

const shortLength = 40

export function PaymentFacts({ payment, payer }: { readonly payment: Payment; readonly payer: Payer }) {
  return (
    <Panel title="Facts">
      <div className="stack">
        <Group title="Payer" facts={payerFacts(payment, payer)} />
        <Group title="Payment" facts={paymentFacts(payment)} />
        <Group title="Provider" facts={providerFacts(payment)} />
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

function Group({ title, facts }: { readonly title: string; readonly facts: readonly (Fact | false)[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <Facts facts={facts} />
    </section>
  )
}

function payerFacts(payment: Payment, payer: Payer): (Fact | false)[] {
  const { userId, email, name, phone, isErased } = payer
  const owner = <CustomerLink userId={userId} guestEmail={payment.guest_email ?? email} />
  const method = methodText(payment.payment_method)
  return [
    isErased && userId === null ? ['Customer', 'Erased'] : ['Customer', owner],
    isErased && userId !== null && ['Personal data', 'Erased'],
    userId !== null && email !== null && ['E-mail', email],
    name !== null && ['Name', name],
    phone !== null && ['Phone', phone],
    method !== null && ['Method', method],
  ]
}

function methodText(method: MethodSummary | null): string | null {
  if (method === null) return null
  const { card_brand, last_four, payment_type, alias } = method
  const number = last_four === null ? '' : `ending in ${last_four}`
  return [alias, card_brand ?? payment_type, number].filter(Boolean).join(' ')
}

function paymentFacts(payment: Payment): (Fact | false)[] {
  const { currency, reference_code, completed_at, expires_at, status } = payment
  const money = (name: string, cents: number): Fact => [name, <Money key={name} cents={cents} currency={currency} />]
  return [
    reference_code !== null && ['Reference', <ReferenceLink key="r" reference={reference_code} />],
    ...textFacts(payment),
    payment.total_cents !== payment.amount_cents && money('Total', payment.total_cents),
    payment.tax_cents > 0 && money('Tax', payment.tax_cents),
    payment.discount_cents > 0 && money('Discount', payment.discount_cents),
    ['Created', <Time key="t" value={payment.created_at} />],
    completed_at !== null && ['Completed', <Time key="d" value={completed_at} />],
    ['Updated', <Time key="u" value={payment.updated_at} />],
    expires_at !== null && status === 'pending' && ['Expires', <Time key="e" value={expires_at} />],
  ]
}

const ReferenceLink = ({ reference }: { readonly reference: string }): ReactNode => (
  <Link to="/payments" search={{ reference_code: reference }} className={longText(reference)}>
    {reference}
  </Link>
)

/** Gets a line of its own when it is long. */
const longText = (text: string) => (text.length > shortLength ? 'longText' : undefined)

function textFacts(payment: Payment): Fact[] {
  const texts: [string, string | null][] = [
    ['Concept', payment.concept],
    ['Description', payment.description],
    ['Category', payment.category],
    ['Tags', payment.tags],
  ]
  return texts.flatMap(([name, value]) =>
    value === null
      ? []
      : [
          [
            name,
            <span key={name} className={longText(value)}>
              {value}
            </span>,
          ] as const,
        ],
  )
}

function providerFacts(payment: Payment): (Fact | false)[] {
  const { provider_intent_id: intent, provider_payment_id: charge, redirect_url: page } = payment
  return [
    ['Provider', payment.provider_id],
    ['Capture', payment.capture_method],
    intent !== null && ['Intent', <Identifier key="i" value={intent} name="the intent id" />],
    charge !== null && ['Charge', <Identifier key="c" value={charge} name="the charge id" />],
    page !== null && ['Payment page', <SafeLink key="p" url={page} />],
  ]
}
