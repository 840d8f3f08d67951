import { Page } from '../../parts/Page.tsx'
import { EmptyState } from '../../parts/states.tsx'

export function ProvidersPage() {
  return (
    <Page title="Providers">
      <div className="panel">
        <EmptyState title="Not available yet">The state of the providers is not in this version yet.</EmptyState>
      </div>
    </Page>
  )
}
