import { Link } from '@tanstack/react-router'
import { Dash } from './Time.tsx'

const shownCharacters = 14

/** The beginning and the end of a long id. */
const shortId = (id: string) => (id.length > shownCharacters ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

/** A link to the page of a user or a guest. */
export function CustomerLink({
  userId,
  guestEmail,
}: {
  readonly userId: string | null
  readonly guestEmail: string | null
}) {
  const id = userId ?? guestEmail
  if (id === null) return <Dash />
  return (
    <Link to="/customers/$id" params={{ id }} className="rowLink customerLink" title={id}>
      {userId === null ? id : `user ${shortId(userId)}`}
    </Link>
  )
}
