// One customer: payment methods and addresses.
import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { CustomerAddresses } from './CustomerAddresses.tsx'
import { CustomerMethods } from './CustomerMethods.tsx'
import { customerOf, customerTitle } from './customer.ts'

const route = getRouteApi('/customers/$id')

export function CustomerPage() {
  const { id } = route.useParams()
  const customer = customerOf(id)
  return (
    <Page
      title={customerTitle(customer)}
      lead={
        <Link to="/payments" search={customer}>
          Payments
        </Link>
      }
    >
      <div className="panels">
        <CustomerMethods key={id} customer={customer} />
        <CustomerAddresses key={`${id} addresses`} customer={customer} />
      </div>
    </Page>
  )
}
