// Finds a customer: a user by id, a guest by e-mail.
import { Page } from '../../parts/Page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { CustomerForm } from './CustomerForm.tsx'

export function CustomersPage() {
  return (
    <Page title="Customers" lead="Payment methods and addresses of a user or a guest">
      <div className="panel">
        <EmptyState title="Whose?">
          <p>Enter the id of a user, or the e-mail address of a guest. Payments link to their payer, too.</p>
          <CustomerForm />
        </EmptyState>
      </div>
    </Page>
  )
}
