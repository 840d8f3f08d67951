// Moves through a list that pages by cursor.
import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'

/**
 * @param props `cursor` of the shown page, undefined for the first; `next` of the following one, null after the last;
 *   `show` puts a cursor into the URL
 */
export function Pager(props: {
  readonly cursor: string | undefined
  readonly next: string | null | undefined
  readonly show: (cursor: string | undefined) => void
}) {
  const { cursor, next, show } = props
  const router = useRouter()
  const isFirst = cursor === undefined
  if (isFirst && !next) return null
  return (
    <nav className="pager" aria-label="Pages">
      <Button variant="default" size="xs" disabled={isFirst} onClick={() => show(undefined)}>
        First page
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={isFirst || !router.history.canGoBack()}
        onClick={() => router.history.back()}
      >
        Back
      </Button>
      <Button variant="default" size="xs" disabled={!next} onClick={() => next && show(next)}>
        Next page
      </Button>
    </nav>
  )
}
