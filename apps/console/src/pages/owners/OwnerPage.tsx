import { Page } from '../../parts/Page.tsx'

export function OwnerPage() {
  return <Page title="OwnerPage">…</Page>
}
