// Moves through a list that has numbered pages.
import { Button } from '@mantine/core'

/** @param props `what` names the rows */
export function PageButtons(props: {
  readonly what: string
  readonly page: number
  readonly hasMore: boolean
  readonly show: (page: number) => void
}) {
  const { what, page, hasMore, show } = props
  if (page === 1 && !hasMore) return null
  return (
    <nav className="pager" aria-label={`Pages of ${what}`}>
      <Button variant="default" size="xs" disabled={page === 1} onClick={() => show(page - 1)}>
        Previous page
      </Button>
      <Button variant="default" size="xs" disabled={!hasMore} onClick={() => show(page + 1)}>
        Next page
      </Button>
    </nav>
  )
}
