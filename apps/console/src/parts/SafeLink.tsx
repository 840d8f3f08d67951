// An address from recorded data.
import { isWebUrl } from './webUrl.ts'

/** A link when the address is one of the web, and text otherwise, so that no script can be clicked. */
export function SafeLink({ url }: { readonly url: string }) {
  if (!isWebUrl(url)) return <span className="wrap">{url}</span>
  return (
    <a className="wrap" href={url} target="_blank" rel="noopener noreferrer">
      {url}
    </a>
  )
}
