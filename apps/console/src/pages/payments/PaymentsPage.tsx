import { Page } from '../../parts/Page.tsx'

export function PaymentsPage() {
  return <Page title="PaymentsPage">…</Page>
}
