import { Link } from '@tanstack/react-router'
import { Dash } from './Time.tsx'

const shownCharacters = 14

/** The beginning and the end of a long id. */
const shortId = (id: string) => (id.length > shownCharacters ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

/** A link to what belongs to a user or a guest. */
export function OwnerLink({
  userId,
  guestEmail,
}: {
  readonly userId: string | null
  readonly guestEmail: string | null
}) {
  if (userId !== null) {
    return (
      <Link to="/owners" search={{ user_id: userId }} className="rowLink" title={userId}>
        user {shortId(userId)}
      </Link>
    )
  }
  if (guestEmail === null) return <Dash />
  return (
    <Link to="/owners" search={{ guest_email: guestEmail }} className="rowLink" title={guestEmail}>
      {guestEmail}
    </Link>
  )
}
