import { Link } from '@tanstack/react-router'
import { Dash } from './Time.tsx'

const shownCharacters = 14

/** The beginning and the end of a long id. */
export const shortId = (id: string) => (id.length > shownCharacters ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

/** A user or a guest, with a link to the page about them. @param props `isText` leaves out the link, in a row that is one */
export function CustomerLink(props: {
  readonly userId: string | null
  readonly guestEmail: string | null
  readonly isText?: true
}) {
  const { userId, guestEmail, isText } = props
  const id = userId ?? guestEmail
  if (id === null) return <Dash />
  const text = userId === null ? id : `user ${shortId(userId)}`
  if (isText) return <span title={id}>{text}</span>
  return (
    <Link to="/customers/$id" params={{ id }} className="rowLink customerLink" title={id}>
      {text}
    </Link>
  )
}
