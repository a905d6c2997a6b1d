import { useConversation, useReadable } from "turnwire/solid";

export function Talk(props) {
  const chat = useConversation(() => props.conversation);
  const rows = useReadable(() => chat().rows);
  return <p class="reader">{rows()}</p>;
}
