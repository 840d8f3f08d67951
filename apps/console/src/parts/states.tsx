// What a list or a panel shows instead of its content: loading, empty, failed.
import { Button, Skeleton } from '@mantine/core'
import { PaylogError } from '@paylog/client/errors'
import type { ReactNode } from 'react'
import { Notice } from './Notice.tsx'

const rowKeys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** @param props `what` is being loaded, for screen readers */
export function LoadingState({ what, rows = 5 }: { readonly what: string; readonly rows?: number }) {
  return (
    <div className="state" role="status" aria-label={`Loading ${what}`}>
      {rowKeys.slice(0, rows).map((key) => (
        <Skeleton key={key} height={18} mb={10} />
      ))}
    </div>
  )
}

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="state emptyState">
      <p className="emptyTitle">{title}</p>
      {children}
    </div>
  )
}

/** The message, the code and the request id of an error, and a button that tries again. */
export function ErrorState({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  return (
    <Notice tone="bad" role="alert" title={error instanceof Error ? error.message : 'Something went wrong'}>
      <ErrorIds error={error} />
      {retry && (
        <Button size="xs" variant="default" mt="xs" onClick={retry}>
          Try again
        </Button>
      )}
    </Notice>
  )
}

function ErrorIds({ error }: { readonly error: unknown }) {
  if (!(error instanceof PaylogError)) return null
  return (
    <p className="errorIds">
      Code <code>{error.code}</code>
      {error.request_id !== null && (
        <>
          , request <code>{error.request_id}</code>
        </>
      )}
    </p>
  )
}
