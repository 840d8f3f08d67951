import { Page } from '../../parts/Page.tsx'
import { EmptyState } from '../../parts/states.tsx'

export function ReportsPage() {
  return (
    <Page title="Reports">
      <div className="panel">
        <EmptyState title="Not available yet">Reports are not in this version yet.</EmptyState>
      </div>
    </Page>
  )
}
