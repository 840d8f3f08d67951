// What is shown instead of a page.
import { Link } from '@tanstack/react-router'
import { Page } from '../parts/Page.tsx'
import { EmptyState, ErrorState, LoadingState } from '../parts/states.tsx'

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState title="There is no page at this address">
        <Link to="/">Overview</Link>
      </EmptyState>
    </Page>
  )
}

/** A page that failed, for example because its files are those of an older version. */
export function PageError({ error }: { readonly error: unknown }) {
  return (
    <Page title="This page cannot be shown">
      <ErrorState error={error} retry={() => location.reload()} />
    </Page>
  )
}

export function PageLoading() {
  return <LoadingState what="the page" />
}
