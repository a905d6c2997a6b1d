fn main(){ leptos::mount::mount_to_body(|| leptos::prelude::view!{ <p>"hi"</p> }) }
