import { Page } from '../../parts/Page.tsx'

export function PaymentPage() {
  return <Page title="PaymentPage">…</Page>
}
