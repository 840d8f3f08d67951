// One person: who it is, what they paid, what went back, and what is saved of them.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { historyQuery } from '../../api/paymentQueries.ts'
import { CustomerLink, shortId } from '../../parts/CustomerLink.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Page } from '../../parts/Page.tsx'
import { useMay } from '../../session/rights.ts'
import { type Payer, payerOf } from '../payment/moneyBack.ts'
import { CustomerAddresses } from './CustomerAddresses.tsx'
import { CustomerMethods } from './CustomerMethods.tsx'
import { CustomerMoney } from './CustomerMoney.tsx'
import { type Customer, customerOf, customersOf } from './customer.ts'
import { customerPaymentsQuery, paymentsFoundQuery } from './customerQueries.ts'

const route = getRouteApi('/customers/$id')

export function CustomerPage() {
  const { id } = route.useParams()
  const customer = customerOf(id)
  const payments = useQuery(customerPaymentsQuery(customer))
  const payer = usePayer(payments.data?.payments[0]?.id)
  const may = useMay()
  const shown = 'user_id' in customer ? `User ${shortId(id)}` : id
  const title = payer?.name ?? payer?.email ?? shown
  return (
    <Page
      title={title}
      lead={<Contact id={id} customer={customer} payer={payer} title={title} />}
      actions={
        may('createErasure') && (
          <Button
            variant="default"
            size="xs"
            renderRoot={(props) => <Link {...props} to="/privacy" search={customer} />}
          >
            Erase this person…
          </Button>
        )
      }
    >
      <div className="panels">
        {payer?.isErased && (
          <Notice tone="quiet" title="This person was erased">
            Names, addresses and texts are gone for good. Amounts, times, statuses and ids stay, so that the books are
            whole.
          </Notice>
        )}
        <CustomerMoney customer={customer} payments={payments} />
        <div className="columns">
          <CustomerMethods key={id} customer={customer} />
          <CustomerAddresses key={`${id} addresses`} customer={customer} />
        </div>
      </div>
    </Page>
  )
}

/** Who made the newest payment, as it says; undefined without one. */
function usePayer(paymentId: string | undefined): Payer | undefined {
  const { data } = useQuery({
    ...historyQuery(paymentId ?? ''),
    enabled: paymentId !== undefined,
    refetchInterval: false,
  })
  return data && payerOf(data)
}

type ContactProps = {
  readonly id: string
  readonly customer: Customer
  readonly payer: Payer | undefined
  /** Says it already. */
  readonly title: string
}

function Contact({ id, customer, payer, title }: ContactProps) {
  const email = 'guest_email' in customer ? id : (payer?.email ?? null)
  return (
    <span className="row contact">
      {'user_id' in customer ? 'User' : 'Guest'}
      <Identifier value={id} name={'user_id' in customer ? 'the user id' : 'the e-mail address'} />
      {email !== null && ![id, title].includes(email) && <span>{email}</span>}
      {payer?.phone && <span>{payer.phone}</span>}
      {email !== null && <SameAddress email={email} id={id} />}
    </span>
  )
}

/** Others who pay with the same e-mail address: it does not make them one customer, because anybody can type it. */
function SameAddress({ email, id }: { readonly email: string; readonly id: string }) {
  const { data = [] } = useQuery(paymentsFoundQuery(email))
  const others = customersOf(data).filter((other) => other.id.toLowerCase() !== id.toLowerCase())
  if (others.length === 0) return null
  return (
    <span>
      The same address:{' '}
      {others.map(({ id: other, userId, guestEmail }) => (
        <CustomerLink key={other} userId={userId} guestEmail={guestEmail} />
      ))}
    </span>
  )
}
