import { Page } from '../../parts/Page.tsx'

export function ProductsPage() {
  return <Page title="ProductsPage">…</Page>
}
