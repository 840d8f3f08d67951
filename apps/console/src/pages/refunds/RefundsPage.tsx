import { Page } from '../../parts/Page.tsx'
import { EmptyState } from '../../parts/states.tsx'

export function RefundsPage() {
  return (
    <Page title="Refunds">
      <div className="panel">
        <EmptyState title="Not available yet">
          Refunds of all payments are not listed in this version yet. The page of a payment lists its refunds.
        </EmptyState>
      </div>
    </Page>
  )
}
